import { useState } from 'react'

/** What a form holds before it is sent. */
export function useDraft<T extends object>(initial: T) {
  const [draft, setDraft] = useState(initial)
  return {
    draft,
    set: <Name extends keyof T>(name: Name, value: T[Name]) =>
      setDraft((before) => ({ ...before, [name]: value })),
    reset: (to: T) => setDraft(to),
  }
}
