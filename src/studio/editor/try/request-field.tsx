import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { requestFormTexts } from '../../texts/bar.ts'
import type { FormField } from './request-form.ts'
import { typedValue } from './request-form.ts'

interface RequestFieldProps {
  readonly field: FormField
  /** As text; empty: left out. */
  readonly value: string
  readonly onChange: (text: string) => void
  /** In the body lists and objects are written as JSON, elsewhere lists with commas. */
  readonly isBody: boolean
}

/** One value of a request, by its type. */
export function RequestFieldInput({ field, value, onChange, isBody }: RequestFieldProps) {
  const { name, type, required, choices } = field
  // A list that is written is no JSON until its last bracket, and would be replaced at each letter.
  const [draft, setDraft] = useState<{ readonly text: string; readonly gives: string }>()
  const text = draft?.gives === value ? draft.text : value
  const isWrong = isBody && typedValue(field, text).isWrong
  const label = (
    <>
      {name} <span style={{ fontWeight: 400, opacity: 0.75 }}>{type}</span>
    </>
  )
  const shared = {
    size: 'xs' as const,
    label,
    'aria-label': name,
    withAsterisk: required,
    description: hintOf(field, isBody) || undefined,
  }
  const options = type === 'condition' ? ['true', 'false'] : type === 'list' ? [] : choices.map(String)
  if (options.length > 0)
    return (
      <Select
        {...shared}
        data={[...new Set(options)]}
        value={options.includes(value) ? value : null}
        placeholder={requestFormTexts.leftOut}
        clearable
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    )
  return (
    <TextInput
      {...shared}
      type={type === 'day' ? 'date' : 'text'}
      inputMode={type === 'number' || type === 'whole number' ? 'decimal' : undefined}
      required={required && !isBody}
      value={text}
      error={isWrong ? requestFormTexts.mustBe(type) : undefined}
      onChange={(event) => {
        const { value: written } = event.currentTarget
        setDraft({ text: written, gives: textOf(written) })
        onChange(written)
      }}
    />
  )

  /** What comes back as `value` for a text: JSON is printed in its own way. */
  function textOf(written: string): string {
    if (!isBody) return written
    const { value: read } = typedValue(field, written)
    if (read === undefined) return ''
    return typeof read === 'string' && type !== 'any' && type !== 'list' && type !== 'object'
      ? read
      : typeof read === 'object' || ['any', 'list', 'object'].includes(type)
        ? JSON.stringify(read)
        : String(read)
  }
}

/** The rules of a field in words. */
function hintOf({ type, limits, default: standard, help, choices }: FormField, isBody: boolean): string {
  const { min, max, min_length, max_length, pattern } = limits
  const words = [
    help,
    isBody && (type === 'list' || type === 'object' || type === 'any') ? requestFormTexts.asJson : '',
    !isBody && type === 'list' ? requestFormTexts.separated : '',
    type === 'list' && choices.length > 0 ? choices.join(', ').slice(0, 200) : '',
    rangeOf(min, max),
    measured(
      rangeOf(min_length, max_length),
      type === 'list' ? requestFormTexts.items : requestFormTexts.characters,
    ),
    pattern === undefined ? '' : requestFormTexts.like(pattern),
    standard === undefined ? '' : requestFormTexts.otherwise(JSON.stringify(standard).slice(0, 100)),
  ]
  return words.filter((word) => word !== '').join(' · ')
}

function rangeOf(least: string | number | undefined, most: string | number | undefined): string {
  if (least !== undefined && most !== undefined) return requestFormTexts.between(String(least), String(most))
  if (least !== undefined) return requestFormTexts.from(String(least))
  return most === undefined ? '' : requestFormTexts.upTo(String(most))
}

function measured(range: string, words: (range: string) => string): string {
  return range === '' ? '' : words(range)
}
