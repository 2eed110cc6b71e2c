import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import type { DocumentSearch } from '../../../shared/api/data/documents.ts'

/** What a list shows, as its address says it; the address can be shared. */
export interface ListAddress {
  /** Free text. */
  readonly query: string
  /** From 1. */
  readonly page: number
  /** Cursor of the page, needed where counting pages ends. */
  readonly after: string
  readonly sort: { readonly field: string; readonly order: 'asc' | 'desc' } | undefined
}

/** Reads `q`, `page`, `after` and `sort` (`name` or `-name`). What makes no sense is as if it were not there. */
export function readListAddress(words: URLSearchParams): ListAddress {
  const page = Number(words.get('page') ?? 1)
  const sort = words.get('sort') ?? ''
  return {
    query: words.get('q') ?? '',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    after: words.get('after') ?? '',
    sort:
      sort.replace('-', '') === ''
        ? undefined
        : sort.startsWith('-')
          ? { field: sort.slice(1), order: 'desc' }
          : { field: sort, order: 'asc' },
  }
}

/** Past this the API wants a cursor. */
const MOST_OFFSET = 10_000

/** The last page that is found by its number. */
export function lastNumberedPage(limit: number): number {
  return Math.floor(MOST_OFFSET / limit) + 1
}

/** The page that is shown: one further back than numbers reach is not found without its cursor. */
export function shownPage({ page, after }: ListAddress, limit: number): number {
  return after === '' ? Math.min(page, lastNumberedPage(limit)) : page
}

/** The body that searches for what the address says. */
export function bodyOf(address: ListAddress, limit: number): DocumentSearch {
  const { query, after, sort } = address
  const page = shownPage(address, limit)
  const byNumber = page <= lastNumberedPage(limit)
  return {
    limit,
    ...(query === '' ? {} : { query }),
    ...(sort === undefined ? {} : { sort: [{ [sort.field]: sort.order }] }),
    ...(byNumber ? (page > 1 ? { offset: (page - 1) * limit } : {}) : { after }),
  }
}

/** Changes words of the address: an empty one goes. The list starts at the first page unless a page is given. */
export type Readdress = (words: Readonly<Record<string, string>>) => void

export function useListAddress(): readonly [ListAddress, Readdress, URLSearchParams] {
  const [words, setWords] = useSearchParams()
  const address = useMemo(() => readListAddress(words), [words])
  const readdress: Readdress = (changed) =>
    setWords((before) => withWords(before, changed), { replace: !('page' in changed) })
  return [address, readdress, words]
}

export function withWords(
  before: URLSearchParams,
  changed: Readonly<Record<string, string>>,
): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries({ page: '', after: '', ...changed }))
    if (value === '') after.delete(name)
    else after.set(name, value)
  return after
}

/** The address of the screen that says who may do something. `what`: method and address, or a name. */
export function whoMayPath(subject: 'endpoint' | 'page' | 'storage' | 'scope', what: string): string {
  return `/people/who-may?${new URLSearchParams({ [subject]: what })}`
}
