import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'

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

/** Which record a screen has open beside its list, as the address says (`?open=`); empty: none. */
export function useOpened(): readonly [string, (guid: string) => void] {
  const [words, setWords] = useSearchParams()
  const open = (guid: string) =>
    setWords((before) => {
      const next = new URLSearchParams(before)
      if (guid === '') next.delete('open')
      else next.set('open', guid)
      return next
    })
  return [words.get('open') ?? '', open]
}

/** The title of the browser's tab; the name of what is open goes before what it is. */
export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Quoin`
  }, [title])
}
