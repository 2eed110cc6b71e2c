/**
 * Which pages of a list can be opened. Up to 10,000 records the API skips to a page; beyond that it continues after a record,
 * by a cursor that only the page before gives. So from there on it is one page after the other: the next one, and those that
 * were open before.
 */
import { lastNumberedPage } from './list-address.ts'

export interface PageTrail {
  /** What is listed: search, filters and order. */
  list: string
  /** By page, the cursor that leads to it. */
  readonly cursors: Map<number, string>
}

export interface ListPages {
  /** The last page that has a button. */
  readonly last: number
  canOpen(page: number): boolean
  /** The words for a page that can be opened: its number, and its cursor where the number alone does not find it. */
  wordsOf(page: number): Record<string, string>
}

export interface ShownPage {
  readonly page: number
  readonly limit: number
  readonly total: number
  /** Its own; empty where it was found by its number. */
  readonly after: string
  /** The next page's; empty where there is none, or none that could be told. */
  readonly cursor: string
}

export function emptyTrail(): PageTrail {
  return { list: '', cursors: new Map() }
}

/** `trail` keeps the way by which the list was walked; it begins again with another list. */
export function listPages(trail: PageTrail, list: string, shown: ShownPage): ListPages {
  const { page, limit, total, after, cursor } = shown
  if (trail.list !== list) {
    trail.list = list
    trail.cursors.clear()
  }
  const numbered = lastNumberedPage(limit)
  if (page > numbered) trail.cursors.set(page, after)
  if (cursor !== '' && page >= numbered) trail.cursors.set(page + 1, cursor)
  const all = Math.max(1, Math.ceil(total / limit))
  const canOpen = (requested: number): boolean => requested <= numbered || trail.cursors.has(requested)
  return {
    last: Math.min(all, Math.max(numbered, page, ...trail.cursors.keys())),
    canOpen,
    wordsOf: (requested) => ({
      page: requested > 1 ? String(requested) : '',
      after: requested > numbered ? (trail.cursors.get(requested) ?? '') : '',
    }),
  }
}
