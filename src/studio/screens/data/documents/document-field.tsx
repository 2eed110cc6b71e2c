import { NumberInput, Select, Switch, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { wordsOfField } from '../../../../shared/fields/words-of-field.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { jsonMistake } from '../../../controls/json/json-mistake.ts'
import { dataTexts } from '../../../texts/data.ts'
import { type FieldType, isFields, typeOf } from './document-shape.ts'

interface DocumentFieldProps {
  readonly name: string
  readonly rule: FieldRecord | undefined
  /** What it held in other documents. */
  readonly types: readonly FieldType[]
  readonly value: unknown
  readonly isEdited: boolean
  readonly error: string | undefined
  /** `isBroken`: what is typed is no value yet. */
  readonly onChange: (name: string, value: unknown, isBroken: boolean) => void
}

/** One field of a document, by its rule, else by what it holds. */
export function DocumentField(props: DocumentFieldProps) {
  const { name, rule, value, isEdited, error, onChange } = props
  const type =
    rule && rule.type !== 'date'
      ? rule.type
      : value === undefined || value === null
        ? (props.types[0] ?? 'string')
        : typeOf(value)
  const choices = choicesOf(rule)
  const words = rule ? rule.label || wordsOfField(name) : name
  const shared = {
    label: isEdited ? dataTexts.changed(words) : words,
    description: rule?.description || undefined,
    withAsterisk: rule?.required ?? false,
    error,
  }
  if (choices)
    return (
      <Select
        {...shared}
        data={choices}
        clearable={!rule?.required}
        value={value === undefined || value === null ? null : String(value)}
        onChange={(one) => onChange(name, type === 'number' && one !== null ? Number(one) : one, false)}
      />
    )
  if (type === 'boolean')
    return (
      <Switch
        label={shared.label}
        description={shared.description}
        error={error}
        checked={value === true}
        onChange={(event) => onChange(name, event.currentTarget.checked, false)}
      />
    )
  if (type === 'number')
    return (
      <NumberInput
        {...shared}
        value={typeof value === 'number' ? value : ''}
        onChange={(one) => onChange(name, one === '' ? null : Number(one), false)}
      />
    )
  if (type === 'object' || type === 'array') return <JsonValueField {...props} shared={shared} />
  return (
    <Textarea
      {...shared}
      autosize
      minRows={1}
      maxRows={12}
      value={
        typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
      }
      onChange={(event) => onChange(name, event.currentTarget.value, false)}
    />
  )
}

interface Shared {
  readonly label: string
  readonly description: string | undefined
  readonly error: string | undefined
}

/** Keeps the text that is typed, also while it is no JSON. */
function JsonValueField({ name, value, onChange, shared }: DocumentFieldProps & { readonly shared: Shared }) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  return (
    <JsonField
      label={shared.label}
      {...(shared.description === undefined ? {} : { description: shared.description })}
      error={shared.error}
      minRows={2}
      value={text}
      onChange={(typed) => {
        setText(typed)
        const isBroken = jsonMistake(typed) !== ''
        onChange(name, isBroken ? value : JSON.parse(typed), isBroken)
      }}
    />
  )
}

function choicesOf(rule: FieldRecord | undefined): string[] | undefined {
  const rules = rule?.validation_rules
  if (!isFields(rules) || !Array.isArray(rules.choices)) return undefined
  return rules.choices.map(String)
}
