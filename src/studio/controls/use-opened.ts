import { useSearchParams } from 'wouter'

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
