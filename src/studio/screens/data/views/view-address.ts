/** The words of a list's address that a saved view keeps: not the page, nor what is open beside it. */
const stored = ['q', 'filter', 'sort', 'columns', 'widths', 'removed']

export function viewAddress(words: URLSearchParams): string {
  const view = new URLSearchParams()
  for (const name of stored) for (const value of words.getAll(name)) view.append(name, value)
  return view.toString()
}

/** The address that shows a view, which it names. */
export function wordsOfView(guid: string, address: string): URLSearchParams {
  const words = new URLSearchParams(viewAddress(new URLSearchParams(address)))
  words.set('view', guid)
  return words
}
