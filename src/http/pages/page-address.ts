/**
 * The address of a page while it is made: its path, its query without what is about one request only, and addresses of
 * the same page with some parameters changed.
 */
export interface PageAddress {
  readonly path: string
  readonly query: URLSearchParams
  /** Path and query. */
  readonly href: string
  get(name: string): string | undefined
  getAll(name: string): readonly string[]
  /** The same page with these parameters; undefined takes one away. */
  with(changes: Readonly<Record<string, string | readonly string[] | undefined>>): string
}

/** Parameters that are about one request, or do not belong into a link. */
const PASSING = ['access_token', '_events', '_export', '_kept']

/** `url`: path and query as they were sent. */
export function pageAddress(url: string): PageAddress {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  for (const name of PASSING) query.delete(name)
  return {
    path,
    query,
    href: hrefOf(path, query),
    get: (name) => query.get(name) ?? undefined,
    getAll: (name) => query.getAll(name),
    with(changes) {
      const changed = new URLSearchParams(query)
      for (const [name, value] of Object.entries(changes)) {
        changed.delete(name)
        for (const one of value === undefined ? [] : [value].flat()) changed.append(name, one)
      }
      return hrefOf(path, changed)
    },
  }
}

function hrefOf(path: string, query: URLSearchParams): string {
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}
