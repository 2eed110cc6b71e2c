import { TextInput } from '@mantine/core'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

/** Who sees the field, and who may set it. */
export function FieldPermissionsForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={fieldsTexts.visibleTo}
        description={fieldsTexts.visibleToHelp}
        spellCheck={false}
        value={draft.visibleTo}
        error={error('visible_to')}
        onChange={(event) => set('visibleTo', event.currentTarget.value)}
      />
      <TextInput
        label={fieldsTexts.settableBy}
        description={fieldsTexts.settableByHelp}
        spellCheck={false}
        value={draft.settableBy}
        error={error('settable_by')}
        onChange={(event) => set('settableBy', event.currentTarget.value)}
      />
    </>
  )
}
