import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import type { SearchBody } from '../api/request.ts'

/** What a list shows, as its address says it; the address can be sent to somebody else. */
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

/** The body that searches for what the address says. */
export function bodyOf({ query, page, after, sort }: ListAddress, limit: number): SearchBody {
  const offset = (page - 1) * limit
  return {
    limit,
    ...(query === '' ? {} : { query }),
    ...(sort === undefined ? {} : { sort: [{ [sort.field]: sort.order }] }),
    ...(after === '' ? (offset > 0 ? { offset: Math.min(offset, MOST_OFFSET) } : {}) : { after }),
  }
}

/** The words for another page: its number, and a cursor where the number alone no longer finds it. */
export function pageWords(page: number, limit: number, cursor: string): Record<string, string> {
  return {
    page: page > 1 ? String(page) : '',
    after: (page - 1) * limit > MOST_OFFSET ? cursor : '',
  }
}

/** Changes words of the address: an empty one goes. The list begins anew unless a page is asked for. */
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
