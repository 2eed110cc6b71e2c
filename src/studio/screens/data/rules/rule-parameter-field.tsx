import { MultiSelect, NumberInput, Select, TextInput } from '@mantine/core'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { RuleParameter } from './rule-kinds.ts'

interface RuleParameterFieldProps {
  readonly parameter: RuleParameter
  readonly value: unknown
  /** undefined: leave it out. */
  readonly onChange: (value: unknown) => void
}

export function RuleParameterField({ parameter, value, onChange }: RuleParameterFieldProps) {
  const error = useFieldError()
  const { name, label, help, kind, options = [], required = false } = parameter
  const shared = { label, description: help, required, error: error(`parameters.${name}`) }
  if (kind === 'names')
    return (
      <MultiSelect
        {...shared}
        data={[...options]}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(list) => onChange(list.length === 0 ? undefined : list)}
      />
    )
  if (kind === 'choice')
    return (
      <Select
        {...shared}
        data={[...options]}
        clearable={!required}
        value={typeof value === 'string' ? value : null}
        onChange={(one) => onChange(one ?? undefined)}
      />
    )
  if (kind === 'number')
    return (
      <NumberInput
        {...shared}
        min={1}
        allowDecimal={false}
        value={typeof value === 'number' ? value : ''}
        onChange={(one) => onChange(one === '' ? undefined : Number(one))}
      />
    )
  return (
    <TextInput
      {...shared}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    />
  )
}
