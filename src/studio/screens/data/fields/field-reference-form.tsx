import { Group, Select } from '@mantine/core'
import { onDeletes } from '../../../../shared/field-rule.ts'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'
import { RefersToInput } from './needed-inputs.tsx'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

const words = {
  refuse: fieldsTexts.onRemoveRefuse,
  clear: fieldsTexts.onRemoveClear,
  delete: fieldsTexts.onRemoveDelete,
} as const

/** Which storage's documents the field holds, and what happens when one of them is removed. */
export function FieldReferenceForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  return (
    <Group grow align="flex-start">
      <RefersToInput draft={draft} set={set} description={fieldsTexts.refersToHelp} />
      {draft.refersTo === '' ? null : (
        <Select
          label={fieldsTexts.whenDocumentRemoved}
          description={fieldsTexts.whenDocumentRemovedHelp}
          data={onDeletes.map((value) => ({ value, label: words[value] }))}
          allowDeselect={false}
          value={draft.onDelete}
          onChange={(way) => set('onDelete', onDeletes.find((one) => one === way) ?? 'refuse')}
        />
      )}
    </Group>
  )
}
