import { Group, Switch, TextInput } from '@mantine/core'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

/** Whether two documents may hold the same value. */
export function FieldUniqueForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <Switch
        label={fieldsTexts.unique}
        description={fieldsTexts.uniqueHelp}
        checked={draft.unique}
        error={error('unique')}
        onChange={(event) => set('unique', event.currentTarget.checked)}
      />
      {draft.unique ? (
        <>
          <TextInput
            label={fieldsTexts.uniqueTogetherAs}
            description={fieldsTexts.uniqueTogetherAsHelp}
            value={draft.uniqueWith}
            onChange={(event) => set('uniqueWith', event.currentTarget.value)}
          />
          <Group>
            <Switch
              label={fieldsTexts.ignoreCase}
              checked={draft.ignoreCase}
              onChange={(event) => set('ignoreCase', event.currentTarget.checked)}
            />
            <Switch
              label={fieldsTexts.ignoreAccents}
              checked={draft.ignoreAccents}
              onChange={(event) => set('ignoreAccents', event.currentTarget.checked)}
            />
          </Group>
        </>
      ) : null}
    </>
  )
}
