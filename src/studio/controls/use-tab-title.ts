import { useEffect } from 'react'

/** The title of the browser's tab; the name of what is open goes before what it is. */
export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Quoin`
  }, [title])
}
