/** What a type cannot be without: in the line that adds a field, and in its form. */
import { Select, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { currencies } from '../../../../shared/fields/currencies.ts'
import { itemTypes } from '../../../../shared/fields/field-limits.ts'
import { fieldTypeEntries } from '../../../../shared/fields/field-type.ts'
import { storageNamesQuery } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'
import { kindOf } from './field-kinds.ts'

export type NeededDraft = Pick<FieldDraft, 'type' | 'currency' | 'choices' | 'items' | 'refersTo'>

export interface NeededInputProps {
  readonly draft: NeededDraft
  readonly set: <Name extends 'currency' | 'choices' | 'items' | 'refersTo'>(
    name: Name,
    value: FieldDraft[Name],
  ) => void
  readonly description?: string
}

/** Nothing for a type that needs nothing. */
export function NeededInput(props: NeededInputProps) {
  const { draft } = props
  if (draft.type === 'reference') return <RefersToInput {...props} required />
  if (kindOf(draft) === 'money') return <CurrencyInput {...props} />
  const { needs } = fieldTypeEntries[draft.type]
  if (needs === 'items') return <ItemsInput {...props} />
  return needs === 'choices' ? <ChoicesInput {...props} /> : null
}

const names = new Intl.DisplayNames(['en'], { type: 'currency' })
const frequent = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'CNY', 'INR']
const codes = [...new Set([...frequent, ...currencies])].map((code) => ({
  value: code,
  label: `${code} · ${names.of(code) ?? code}`,
}))

export function CurrencyInput({ draft, set, description }: NeededInputProps) {
  const error = useFieldError()
  return (
    <Select
      label={fieldsTexts.currency}
      description={description}
      data={codes}
      searchable
      required
      withAsterisk={false}
      value={draft.currency}
      error={error('validation_rules.currency')}
      onChange={(code) => {
        if (code !== null) set('currency', code)
      }}
    />
  )
}

const items = itemTypes.map((type) => ({ value: type, label: fieldTypeEntries[type].label }))

export function ItemsInput({ draft, set, description }: NeededInputProps) {
  const error = useFieldError()
  return (
    <Select
      label={fieldsTexts.typeOfTheItems}
      description={description}
      data={items}
      searchable
      required
      value={draft.items === '' ? null : draft.items}
      error={error('validation_rules.items')}
      onChange={(type) => set('items', type ?? '')}
    />
  )
}

export function ChoicesInput({ draft, set, description }: NeededInputProps) {
  const error = useFieldError()
  return (
    <TagsInput
      label={fieldsTexts.choices}
      description={description}
      placeholder={draft.choices.length === 0 ? fieldsTexts.choicesExample : ''}
      required={fieldTypeEntries[draft.type].needs === 'choices'}
      splitChars={[',', ';']}
      acceptValueOnBlur
      value={[...draft.choices]}
      error={error('validation_rules.choices')}
      onChange={(choices) => set('choices', choices)}
    />
  )
}

export function RefersToInput({
  draft,
  set,
  description,
  required = false,
}: NeededInputProps & { readonly required?: boolean }) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  return (
    <Select
      label={fieldsTexts.refersTo}
      description={description}
      data={storages.map(({ name }) => name)}
      clearable={!required}
      required={required}
      searchable
      value={draft.refersTo === '' ? null : draft.refersTo}
      error={error('reference')}
      onChange={(name) => set('refersTo', name ?? '')}
    />
  )
}
