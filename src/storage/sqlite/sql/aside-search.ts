/**
 * Searches that the search thread carries out. What they find is kept while nothing was written to the storage in between:
 * then it is what is committed.
 */
import type { Search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import type { WantedCount } from '../cache/kept-counts.ts'
import type { SessionParts } from '../core/session-segment.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { noteLength } from './bounded-search.ts'
import { pageOf } from './sqlite-find.ts'
import { noteSearch } from './sqlite-search-advice.ts'

export type Parts = Pick<SessionParts, 'advisor' | 'catalogue' | 'reader' | 'results' | 'thread'>

export interface Aside {
  /** Whether the session sees what is committed and nothing else. */
  readonly keep: boolean
  readonly effort: number
}

/** `total`: whether to count as well, in the same transaction. */
export async function findAside(
  parts: Parts,
  entry: StorageEntry,
  { search, total }: { readonly search: Search; readonly total: boolean },
  { keep, effort }: Aside,
): Promise<{ readonly found: Found; readonly total: number | undefined }> {
  const { catalogue, results, thread } = parts
  const { name } = entry
  const version = catalogue.version(name)
  const answer = await thread.find({ storage: name, search, total, effort })
  const found = pageOf({ documents: answer.documents, length: answer.length }, search)
  noteLength(entry, found)
  const wanted = { search, key: JSON.stringify(search) }
  if (keep && isCurrent(parts, entry, version)) {
    results.found(name, version, wanted, () => found)
    if (answer.total !== undefined) entry.counts?.keep(search, answer.total)
  }
  after(parts, entry, 'find', search, answer.milliseconds)
  return { found, total: answer.total }
}

export async function countAside(
  parts: Parts,
  entry: StorageEntry,
  wanted: WantedCount,
  { keep, effort }: Aside,
): Promise<number> {
  const { catalogue, thread } = parts
  const version = catalogue.version(entry.name)
  const { total, milliseconds } = await thread.count({ storage: entry.name, ...wanted, effort })
  if (keep && isCurrent(parts, entry, version)) entry.counts?.keep(wanted, total)
  after(parts, entry, 'count', wanted, milliseconds)
  return total
}

/** Searches that come may then find the words in memory. Without them they are slower, not wrong. */
export function readMissing({ thread }: Pick<Parts, 'thread'>, { postings }: StorageEntry): void {
  postings?.readMissing(thread).catch(() => undefined)
}

/** The thread may have seen a commit that this process was just making: then the version differs. */
export function isCurrent({ catalogue }: Parts, entry: StorageEntry, version: number): boolean {
  const { name, touched } = entry
  return catalogue.find(name) === entry && catalogue.version(name) === version && touched?.version === version
}

export function after(
  { advisor, reader, thread }: Parts,
  entry: StorageEntry,
  kind: 'find' | 'count',
  wanted: Parameters<typeof noteSearch>[2],
  milliseconds: number,
): void {
  readMissing({ thread }, entry)
  noteSearch({ connection: reader, entry, advisor }, kind, wanted, performance.now() - milliseconds)
}
