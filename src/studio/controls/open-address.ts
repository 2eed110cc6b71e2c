/** The address of a list with a record of it open beside it; what the list shows stays. */
export function openAddress(path: string, words: URLSearchParams, guid: string): string {
  const next = new URLSearchParams(words)
  next.set('open', guid)
  return `${path}?${next}`
}
