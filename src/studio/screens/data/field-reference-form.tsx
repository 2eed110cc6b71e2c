import { Group, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { onDeletes } from '../../../shared/field-rule.ts'
import { storageNamesQuery } from '../../api/storages.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import type { useDraft } from '../../controls/use-draft.ts'
import type { FieldDraft } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

const words = {
  refuse: 'refuse it while documents refer to it',
  clear: 'clear the field',
  delete: 'remove these documents too',
} as const

/** Which storage's documents the field holds, and what happens when one of them is removed. */
export function FieldReferenceForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  return (
    <Group grow align="flex-start">
      <Select
        label="Refers to"
        description="Storage whose documents it names."
        data={storages.map(({ name }) => name)}
        clearable
        searchable
        value={draft.refersTo === '' ? null : draft.refersTo}
        error={error('reference')}
        onChange={(name) => set('refersTo', name ?? '')}
      />
      {draft.refersTo === '' ? null : (
        <Select
          label="When that document is removed"
          description="In the same transaction."
          data={onDeletes.map((value) => ({ value, label: words[value] }))}
          allowDeselect={false}
          value={draft.onDelete}
          onChange={(way) => set('onDelete', onDeletes.find((one) => one === way) ?? 'refuse')}
        />
      )}
    </Group>
  )
}
