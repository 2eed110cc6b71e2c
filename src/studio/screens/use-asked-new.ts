import { useEffect } from 'react'
import { useLocation, useSearch } from 'wouter'

/** Opens the dialog for a new record where the address asks for it (`?new`), and takes that out of the address. */
export function useAskedNew(open: () => void): void {
  const search = useSearch()
  const [path, go] = useLocation()
  const isAsked = new URLSearchParams(search).has('new')
  useEffect(() => {
    if (!isAsked) return
    go(path, { replace: true })
    open()
  }, [isAsked, path, go, open])
}
