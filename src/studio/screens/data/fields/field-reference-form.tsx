import { Group, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { onDeletes } from '../../../../shared/field-rule.ts'
import { storageNamesQuery } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

const words = {
  refuse: fieldsTexts.onRemoveRefuse,
  clear: fieldsTexts.onRemoveClear,
  delete: fieldsTexts.onRemoveDelete,
} as const

/** Which storage's documents the field holds, and what happens when one of them is removed. */
export function FieldReferenceForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  return (
    <Group grow align="flex-start">
      <Select
        label={fieldsTexts.refersTo}
        description={fieldsTexts.refersToHelp}
        data={storages.map(({ name }) => name)}
        clearable
        searchable
        value={draft.refersTo === '' ? null : draft.refersTo}
        error={error('reference')}
        onChange={(name) => set('refersTo', name ?? '')}
      />
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
