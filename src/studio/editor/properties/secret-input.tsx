import { Autocomplete } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { JsonValue } from '../../../shared/json.ts'
import { secretNamesQuery } from '../../api/secrets.ts'
import { LazyInput } from './lazy-input.tsx'
import { useFieldFocus } from './use-field-focus.ts'

interface SecretInputProps {
  readonly pin: string
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue | undefined) => void
}

/** The name of a secret: one that is set, or one that will be. */
export function SecretInput({ pin, value, onChange }: SecretInputProps) {
  const ref = useFieldFocus<HTMLInputElement>(pin)
  const commit = (text: string) => onChange(text === '' ? undefined : text)
  const { data: names = [] } = useQuery(secretNamesQuery)
  return (
    <LazyInput
      value={typeof value === 'string' ? value : ''}
      onCommit={commit}
      render={({ onChange: write, ...rest }) => (
        <Autocomplete
          {...rest}
          ref={ref}
          size="xs"
          aria-label={`Value of ${pin}`}
          placeholder="name of a secret"
          data={[...names]}
          onChange={(text) => write({ currentTarget: { value: text } } as Parameters<typeof write>[0])}
          onOptionSubmit={commit}
        />
      )}
    />
  )
}
