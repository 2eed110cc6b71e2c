import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { DocumentSearch } from '../../../shared/api/data/documents.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import { bodyOf, type ListAddress, type Readdress, shownPage, useListAddress } from './list-address.ts'
import { emptyTrail, type ListPages, listPages } from './list-pages.ts'

export interface RecordPageOptions<T> {
  readonly queryKey: readonly unknown[]
  readonly load: (body: DocumentSearch, signal: AbortSignal) => Promise<RecordPage<T>>
  /** What the address does not say: filters of the screen. */
  readonly body?: DocumentSearch
  readonly limit?: number
  /** Milliseconds; reads again by itself. */
  readonly refetchInterval?: number | false
}

export interface ShownPage<T> {
  readonly data: RecordPage<T> | undefined
  readonly error: unknown
  readonly isPending: boolean
  /** The page before is shown until this one is there. */
  readonly isPlaceholderData: boolean
  readonly refetch: () => unknown
  readonly page: number
  readonly limit: number
  readonly pages: ListPages
  readonly address: ListAddress
  readonly readdress: Readdress
  /** What was asked for: filters of the screen, and what the address says. */
  readonly requested: DocumentSearch
  /** Where the page is kept. */
  readonly key: readonly unknown[]
}

/** A page of records: sorted, searched and paged by the server, as the address says. */
export function useRecordPage<T>(options: RecordPageOptions<T>): ShownPage<T> {
  const { queryKey, load, body = {}, limit = 50, refetchInterval = false } = options
  const [address, readdress] = useListAddress()
  const requested: DocumentSearch = { ...body, ...bodyOf(address, limit) }
  const trail = useRef(emptyTrail())
  const key = [...queryKey, requested]
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => load(requested, signal),
    placeholderData: keepPreviousData,
    refetchInterval,
  })
  const page = shownPage(address, limit)
  const pages = listPages(trail.current, JSON.stringify([queryKey, body, address.query, address.sort]), {
    page,
    limit,
    total: data?.total ?? 0,
    after: requested.after ?? '',
    // The rows of the page before are shown until this one is there; so is its cursor.
    cursor: isPlaceholderData ? '' : (data?.next ?? ''),
  })
  const read = { data, error, isPending, isPlaceholderData, refetch }
  return { ...read, page, limit, pages, address, readdress, requested, key }
}
