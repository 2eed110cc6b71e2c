import { queryOptions } from '@tanstack/react-query'
import type { FieldRecord } from '../../shared/api/blueprints/blueprint-fields.ts'
import type { UndoneRun } from '../../shared/api/blueprints/runs.ts'
import type { Document, DocumentSearch, HistoryEntry } from '../../shared/api/data/documents.ts'
import type {
  PreparationRecord,
  SlowSearchRecord,
  StorageAdvice,
  StorageRecord,
} from '../../shared/api/data/storages.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'

const base = '/_system/storages'

export function forgetStorages(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['storages'] })
}

/** After a document was written: lists, the document, its history, and counts. */
export function forgetDocuments(storage: string): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['documents', storage] })
}

export function findStorages(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<StorageRecord>> {
  return search<StorageRecord>(`${base}/search`, body, signal)
}

export const storageQuery = (guid: string) =>
  queryOptions({
    queryKey: ['storages', 'one', guid],
    queryFn: ({ signal }) => call<StorageRecord>('GET', `${base}/${guid}`, { signal }),
  })

/** Names of all storages, for choosing one and for showing which it is. */
export const storageNamesQuery = queryOptions({
  queryKey: ['storages', 'names'],
  queryFn: async ({ signal }) => {
    const { records } = await findStorages({ limit: 1000, sort: [{ name: 'asc' }] }, signal)
    return records.map(({ _meta, name }) => ({ guid: _meta.guid, name }))
  },
})

export const countQuery = (storage: string) =>
  queryOptions({
    queryKey: ['documents', storage, 'count'],
    queryFn: ({ signal }) => call<{ count: number }>('GET', `${base}/${storage}/count`, { signal }),
  })

/** Its indexes, and the searches on it that were slow since the node that answers was started. */
export const adviceQuery = (storage: string) =>
  queryOptions({
    queryKey: ['storages', 'advice', storage],
    queryFn: ({ signal }) => call<StorageAdvice>('GET', `${base}/${storage}/advice`, { signal }),
    // After a deploy a builder looks whether it has helped.
    staleTime: 0,
  })

/** Asked again soon while there are any. Those of other nodes are in it, too. */
export const preparationsQuery = queryOptions({
  queryKey: ['storages', 'preparations'],
  queryFn: ({ signal }) => call<PreparationRecord[]>('GET', '/_system/preparations', { signal }),
  refetchInterval: ({ state }) => (state.status === 'error' ? false : state.data?.length ? 3_000 : 30_000),
})

/** Replies when the index is finished. */
export async function createTextIndex(storage: string): Promise<void> {
  await call('POST', `${base}/${storage}/text-index`)
  await queryClient.invalidateQueries({ queryKey: ['storages', 'advice', storage] })
}

/** Whether there is an index that would make the search fast. */
export function canHelp({ index, text_index }: SlowSearchRecord): boolean {
  return index !== null || text_index
}

export function findDocuments(
  storage: string,
  body: DocumentSearch,
  signal: AbortSignal,
): Promise<RecordPage<Document>> {
  return search<Document>(`${base}/${storage}/documents/search`, body, signal)
}

export const documentQuery = (storage: string, guid: string) =>
  queryOptions({
    queryKey: ['documents', storage, 'one', guid],
    queryFn: async ({ signal }) => {
      // By a search, since a removed document is not found by its address, and can be restored.
      const body = { filters: { '_meta.guid': guid }, include_removed: true, limit: 1 }
      const { records } = await findDocuments(storage, body, signal)
      return records[0] ?? (await call<Document>('GET', documentPath(storage, guid), { signal }))
    },
  })

/** The writes of a document: newest first, at most the last 200. */
export const historyQuery = (storage: string, guid: string) =>
  queryOptions({
    queryKey: ['documents', storage, 'history', guid],
    queryFn: ({ signal }) =>
      call<HistoryEntry[]>('GET', `${documentPath(storage, guid)}/history`, {
        query: { limit: 200 },
        signal,
      }),
  })

/** What taking back a run would do. */
export const undoQuery = (run: string) =>
  queryOptions({
    queryKey: ['documents', 'undo', run],
    queryFn: ({ signal }) =>
      inParts((after) => {
        const behind = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
        return call('GET', `/runs/${run}/undo?in_parts=true${behind}`, { signal })
      }),
    gcTime: 0,
    retry: false,
  })

export function undoRun(run: string, leaveChanged: boolean): Promise<UndoneParts> {
  return inParts((after) => {
    const part = { in_parts: true, ...(after !== undefined && { after }) }
    return call('POST', `/runs/${run}/undo`, { body: { leave_changed: leaveChanged, ...part } })
  })
}

/** As many as one part lists. */
const MOST_UNDONE = 100

export type UndoneParts = UndoneRun & { readonly parts: number }

/** All parts as one, the newest writes first. */
async function inParts(ask: (after: string | undefined) => Promise<UndoneRun>): Promise<UndoneParts> {
  let all: UndoneParts | undefined
  for (let next: string | null = null; !all || next !== null; ) {
    const one: UndoneRun = await ask(next ?? undefined)
    next = one.next
    all = !all
      ? { ...one, parts: 1 }
      : {
          ...one,
          parts: all.parts + 1,
          count: all.count + one.count,
          left: all.left + one.left,
          documents: [...all.documents, ...one.documents]
            .toSorted((a, b) => Number(a.problem === null) - Number(b.problem === null))
            .slice(0, MOST_UNDONE),
          jobs: joined(all.jobs, one.jobs),
          begun: all.begun && one.begun && joined(all.begun, one.begun),
        }
  }
  return all
}

/** Each once: parts of a run list jobs of the same time. */
function joined(jobs: UndoneRun['jobs'], more: UndoneRun['jobs']): UndoneRun['jobs'] {
  return [...jobs, ...more.filter(({ guid }) => !jobs.some((known) => known.guid === guid))]
}

/** The fields that documents of a storage have by rule; rules name their storage by its name. */
async function fieldsOf(
  storage: NonNullable<DocumentSearch['filters']>[string],
  signal: AbortSignal,
): Promise<readonly FieldRecord[]> {
  const body = { filters: { storage }, limit: 1000, sort: [{ name: 'asc' as const }] }
  return (await search<FieldRecord>('/blueprintfields/search', body, signal)).records
}

export const fieldsQuery = (name: string) =>
  queryOptions({
    queryKey: ['fields', 'of', name],
    queryFn: ({ signal }) => fieldsOf(name, signal),
  })

/** Fields without a storage: their rules hold for every storage. */
export const sharedFieldsQuery = queryOptions({
  queryKey: ['fields', 'shared'],
  queryFn: ({ signal }) => fieldsOf({ exists: false }, signal),
})

interface Ordered {
  readonly _meta: { readonly guid: string }
  readonly order?: number | null | undefined
}

/** As people are asked for them: fields with a number first, then those that were added first. Guids begin with the time. */
export function inOrder<T extends Ordered>(fields: readonly T[]): readonly T[] {
  const at = ({ order }: Ordered) => order ?? Number.POSITIVE_INFINITY
  return fields.toSorted((a, b) => (at(a) === at(b) ? (a._meta.guid < b._meta.guid ? -1 : 1) : at(a) - at(b)))
}

export function documentPath(storage: string, guid: string): string {
  return `${base}/${storage}/documents/${guid}`
}

export async function createDocument(storage: string, fields: unknown): Promise<Document> {
  const made = await call<Document>('POST', `${base}/${storage}/documents`, { body: fields })
  await forgetDocuments(storage)
  return made
}

/** Changes the given fields; 409 if the document was changed since it was read. */
export async function changeDocument(
  storage: string,
  { _meta }: Document,
  fields: unknown,
): Promise<Document> {
  const changed = await call<Document>('PUT', documentPath(storage, _meta.guid), {
    body: fields,
    query: { update_hash: _meta.update_hash },
  })
  await forgetDocuments(storage)
  return changed
}

export async function removeDocument(storage: string, guid: string, hard: boolean): Promise<void> {
  await call('DELETE', documentPath(storage, guid), { query: { hard } })
  await forgetDocuments(storage)
}

export async function restoreDocument(storage: string, guid: string): Promise<void> {
  await call('POST', `${documentPath(storage, guid)}/restore`)
  await forgetDocuments(storage)
}
