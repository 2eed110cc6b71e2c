import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { InPin } from '../../../shared/api/blocks/blocks.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { literalText, readLiteral, writingOf } from '../model/words/literal-text.ts'
import { LazyInput } from './lazy-input.tsx'
import { useFieldFocus } from './use-field-focus.ts'

interface LiteralInputProps {
  readonly pin: string
  readonly kind: InPin
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue | undefined) => void
  /** `=` was written: what follows is an expression, with the cursor there. */
  readonly onExpression: (text: string, cursor: number) => void
}

/** The value that a pin holds itself, while no wire brings one. */
export function LiteralInput({ pin, kind, value, onChange, onExpression }: LiteralInputProps) {
  const ref = useFieldFocus<HTMLInputElement>(pin)
  const area = useFieldFocus<HTMLTextAreaElement>(pin)
  const group = useFieldFocus<HTMLDivElement>(pin)
  const [problem, setProblem] = useState<string>()
  const writing = writingOf(kind.type)
  const label = propertiesTexts.valueOf(pin)
  const fallback = kind.default === undefined ? '' : String(kind.default)
  if (kind.choices)
    return (
      <Select
        ref={ref}
        size="xs"
        aria-label={label}
        placeholder={fallback}
        data={[...kind.choices]}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => onChange(next ?? undefined)}
        clearable
      />
    )
  if (writing === 'truth')
    return (
      <SegmentedControl
        ref={group}
        tabIndex={-1}
        size="xs"
        aria-label={label}
        data={[
          { value: '', label: fallback === '' ? propertiesTexts.notSet : propertiesTexts.default(fallback) },
          { value: 'true', label: propertiesTexts.true },
          { value: 'false', label: propertiesTexts.false },
        ]}
        value={value === undefined ? '' : String(value)}
        onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
      />
    )
  const commit = (text: string) => {
    const read = readLiteral(text, writing)
    setProblem('problem' in read ? read.problem : undefined)
    if ('value' in read) onChange(read.value)
  }
  const placeholder =
    fallback || { text: 'text', number: 'number', json: 'JSON', free: propertiesTexts.textOrJson }[writing]
  const long = writing === 'json' || writing === 'free'
  return (
    <LazyInput
      value={literalText(value, writing)}
      onCommit={commit}
      onExpression={onExpression}
      render={(field) => {
        return long ? (
          <Textarea
            {...field}
            ref={area}
            size="xs"
            aria-label={label}
            placeholder={placeholder}
            autosize
            minRows={1}
            maxRows={10}
            error={problem}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          />
        ) : (
          <TextInput
            {...field}
            ref={ref}
            size="xs"
            aria-label={label}
            placeholder={placeholder}
            error={problem}
            {...(writing === 'number' ? { inputMode: 'decimal' as const } : {})}
          />
        )
      }}
    />
  )
}
