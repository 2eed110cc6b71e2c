import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { isFreeText } from '../../../../shared/field-rule.ts'
import { fieldTypeEntries } from '../../../../shared/fields/field-type.ts'
import { collations } from '../../../../shared/texts/collations.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/hooks.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'
import { kindOf } from './field-kinds.ts'
import { ChoicesInput, CurrencyInput, ItemsInput } from './needed-inputs.tsx'

type FieldLimitsProps = Pick<ReturnType<typeof useDraft<FieldDraft>>, 'draft' | 'set'>

const amounts = [
  { key: 'min', limit: 'min', label: fieldsTexts.atLeast },
  { key: 'max', limit: 'max', label: fieldsTexts.atMost },
  { key: 'minLength', limit: 'min_length', label: fieldsTexts.shortest },
  { key: 'maxLength', limit: 'max_length', label: fieldsTexts.longest },
  { key: 'start', limit: 'start', label: fieldsTexts.firstNumber },
  { key: 'places', limit: 'places', label: fieldsTexts.decimalPlaces },
] as const

const languages = new Intl.DisplayNames(['en'], { type: 'language' })
const ownNames: Readonly<Record<string, string>> = {
  und: fieldsTexts.collationUnd,
  binary: fieldsTexts.collationBinary,
}
const orders = collations.map((name) => ({
  value: name,
  label: ownNames[name] ?? languages.of(name) ?? name,
}))

const ignored = [
  { value: 'nothing', label: fieldsTexts.ignoresNothing },
  { value: 'case', label: fieldsTexts.ignoresCase },
  { value: 'accents', label: fieldsTexts.ignoresAccents },
]

/** The limits that the type of a field has. */
export function FieldLimitsForm({ draft, set }: FieldLimitsProps) {
  const error = useFieldError()
  const { limits } = fieldTypeEntries[draft.type]
  return (
    <>
      <Amounts draft={draft} set={set} />
      {limits.includes('pattern') ? (
        <TextInput
          label={fieldsTexts.pattern}
          description={fieldsTexts.patternHelp}
          value={draft.pattern}
          error={error('validation_rules.pattern')}
          onChange={(event) => set('pattern', event.currentTarget.value)}
        />
      ) : null}
      {isFreeText(draft) ? (
        <Select
          label={fieldsTexts.collation}
          description={fieldsTexts.collationHelp}
          data={orders}
          allowDeselect={false}
          value={draft.collation === '' ? 'und' : draft.collation}
          error={error('collation')}
          onChange={(name) => set('collation', name ?? '')}
        />
      ) : null}
      {isFreeText(draft) ? (
        <Select
          label={fieldsTexts.ignores}
          description={fieldsTexts.ignoresHelp}
          data={ignored}
          allowDeselect={false}
          value={draft.ignores}
          error={error('ignore_case') ?? error('ignore_accents')}
          onChange={(what) => set('ignores', what === 'case' || what === 'accents' ? what : 'nothing')}
        />
      ) : null}
      {limits.includes('items') ? <ItemsInput draft={draft} set={set} /> : null}
      {limits.includes('choices') ? (
        <ChoicesInput draft={draft} set={set} description={fieldsTexts.choicesHelp} />
      ) : null}
      {kindOf(draft) === 'money' ? (
        <CurrencyInput draft={draft} set={set} description={fieldsTexts.currencyHelp} />
      ) : null}
    </>
  )
}

function Amounts({ draft, set }: FieldLimitsProps) {
  const error = useFieldError()
  const { limits, value } = fieldTypeEntries[draft.type]
  const shown = amounts.filter(({ limit }) => limits.includes(limit))
  if (shown.length === 0) return null
  return (
    <SimpleGrid cols={2}>
      {shown.map(({ key, limit, label }) => (
        <TextInput
          key={key}
          label={label}
          inputMode={value === 'number' || limit.endsWith('_length') ? 'numeric' : 'text'}
          value={draft[key]}
          error={error(`validation_rules.${limit}`)}
          onChange={(event) => set(key, event.currentTarget.value)}
        />
      ))}
    </SimpleGrid>
  )
}
