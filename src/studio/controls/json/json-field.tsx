import { Textarea } from '@mantine/core'
import { jsonMistake } from './json-mistake.ts'

interface JsonFieldProps {
  readonly label: string
  readonly description?: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly error?: string | undefined
  readonly minRows?: number
}

/** JSON to write. Says while one types where it is wrong, in line and column. */
export function JsonField({ label, description, value, onChange, error, minRows = 6 }: JsonFieldProps) {
  return (
    <Textarea
      label={label}
      description={description}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error ?? (jsonMistake(value) || undefined)}
      autosize
      minRows={minRows}
      maxRows={28}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
    />
  )
}
