import { createContext, type ReactNode, useContext } from 'react'
import { ApiError } from '../api/api-error.ts'

const Errors = createContext<unknown>(undefined)

/** Hands what the server refused down to the fields of a form. */
export function FieldErrors({ value, children }: { readonly value: unknown; readonly children: ReactNode }) {
  return <Errors value={value}>{children}</Errors>
}

/** The message for one field, for its `error`: undefined while the server has nothing against it. */
export function useFieldError(): (name: string) => string | undefined {
  const error = useContext(Errors)
  return (name) => fieldMessage(error, name)
}

export function fieldMessage(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const isMeant = error.fields.some((field) => field === name || field.startsWith(`${name}.`))
  return isMeant ? error.message : undefined
}

/** A number that should be nought: it stands out when it is not. */
export function BadNumber({ value }: { readonly value: number }) {
  return (
    <span style={value > 0 ? { color: 'var(--mantine-color-error)', fontWeight: 600 } : {}}>
      {value.toLocaleString()}
    </span>
  )
}
