import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { queryClient } from '../../../api/query-client.ts'
import { fieldsQuery, findDocuments } from '../../../api/storages.ts'
import { valueAt } from '../documents/document-shape.ts'
import type { GridColumn } from './grid-column.ts'
import { documentName } from './use-offered-documents.ts'

/** By guid, the names of documents that a page of rows refers to. */
export type ReferenceNames = ReadonlyMap<string, string>

/** One search for each storage that is referred to, whatever the number of rows. A storage that may not be read gives none. */
export function useReferenceNames(
  columns: readonly GridColumn[],
  records: readonly Document[],
): ReferenceNames {
  const requested = useMemo(() => referred(columns, records), [columns, records])
  const found = useQueries({
    queries: requested.map(({ storage, guids }) => ({
      queryKey: ['documents', storage, 'names', guids],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => namesOf(storage, guids, signal),
      staleTime: 30_000,
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  })
  return useMemo(() => new Map(found), [found])
}

function referred(columns: readonly GridColumn[], records: readonly Document[]) {
  const byStorage = new Map<string, Set<string>>()
  for (const { name, field } of columns) {
    const storage = field?.reference?.storage
    if (storage === undefined) continue
    const guids = byStorage.get(storage) ?? new Set()
    for (const record of records) {
      const guid = valueAt(record, name)
      if (typeof guid === 'string' && guid !== '') guids.add(guid)
    }
    if (guids.size > 0) byStorage.set(storage, guids)
  }
  return [...byStorage].map(([storage, guids]) => ({ storage, guids: [...guids].sort().slice(0, 1000) }))
}

async function namesOf(
  storage: string,
  guids: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly [string, string])[]> {
  const [fields, { records }] = await Promise.all([
    queryFields(storage),
    findDocuments(storage, { filters: { '_meta.guid': [...guids] }, limit: guids.length }, signal),
  ])
  return records.map((record) => [record._meta.guid, documentName(record, fields)])
}

/** A user who may not see fields still sees names. */
function queryFields(storage: string) {
  return queryClient.fetchQuery({ ...fieldsQuery(storage), staleTime: 30_000, retry: false }).catch(() => [])
}
