import { useEffect, useState } from 'react'
import type { CodeField } from './code-field.tsx'

type Field = typeof CodeField

let loaded: Field | undefined

/** Fetched when a field that may become an expression takes the keyboard, or an expression is shown. */
export async function loadCodeField(): Promise<void> {
  const { CodeField: field } = await import('./code-field.tsx')
  loaded = field
}

/** Not by Suspense, which shows its fallback for a moment also when the field is there: keys would go nowhere. */
export function useCodeField(isRequested: boolean): Field | undefined {
  const [field, setField] = useState(() => loaded)
  useEffect(() => {
    if (!isRequested || field) return undefined
    let isGone = false
    loadCodeField().then(
      () => {
        if (!isGone) setField(() => loaded)
      },
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [isRequested, field])
  return field ?? loaded
}
