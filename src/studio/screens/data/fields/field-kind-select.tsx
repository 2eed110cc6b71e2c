import { Group, Select } from '@mantine/core'
import { useState } from 'react'
import { currencyOf } from '../../../../shared/fields/currencies.ts'
import { Icon } from '../../../controls/icon.tsx'
import type { FieldDraft } from './field-draft.ts'
import { fieldKinds, findKinds, isFieldKind, kindIcon, kindLabel, kindOf, typeOfKind } from './field-kinds.ts'

interface FieldKindSelectProps {
  readonly label: string
  readonly description?: string
  readonly error?: string | undefined
  readonly draft: Pick<FieldDraft, 'type' | 'currency'>
  /** Of other amounts of the storage. */
  readonly usualCurrency?: string | undefined
  readonly onChange: (typed: Pick<FieldDraft, 'type' | 'currency'>) => void
}

const options = fieldKinds.map((kind) => ({ value: kind, label: kindLabel(kind) }))

/** One list of all types, with their pictures, in which people type what they look for. */
export function FieldKindSelect({ draft, usualCurrency, onChange, ...shown }: FieldKindSelectProps) {
  const kind = kindOf(draft)
  const [usual] = useState(() => usualCurrency ?? currencyOf(navigator.language))
  return (
    <Select
      {...shown}
      data={options}
      searchable
      maxDropdownHeight={320}
      filter={({ search }) =>
        findKinds(search).map((one) => ({ value: one, label: kindLabel(one), disabled: false }))
      }
      leftSection={<Icon name={kindIcon(kind)} size={16} />}
      renderOption={({ option }) => (
        <Group gap="xs" wrap="nowrap">
          {isFieldKind(option.value) ? <Icon name={kindIcon(option.value)} size={16} /> : null}
          {option.label}
        </Group>
      )}
      value={kind}
      onChange={(chosen) => {
        if (isFieldKind(chosen)) onChange(typeOfKind(chosen, draft.currency, usual))
      }}
    />
  )
}
