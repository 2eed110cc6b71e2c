import { queryOptions } from '@tanstack/react-query'
import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'
import { saveChanges } from './save-changes.ts'

/** A record of the cluster that has a unique name: a value of the environment, a secret, a connection. */
export interface NamedRecord {
  readonly _meta: { readonly guid: string; readonly updated: number; readonly update_hash: string }
  readonly name: string
  readonly description: string
  readonly modified_by: { readonly username: string }
}

export type NamedRecords<R extends NamedRecord> = ReturnType<typeof namedRecords<R>>

/** `key`: of its queries. `most`: records of a cluster. */
export function namedRecords<R extends NamedRecord>(path: string, key: string, most: number) {
  const forget = () => queryClient.invalidateQueries({ queryKey: [key] })
  const find = (body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<R>> =>
    search<R>(`${path}/search`, body, signal)
  return {
    path,
    key,
    find,
    read: (guid: string, signal: AbortSignal): Promise<R> => call<R>('GET', `${path}/${guid}`, { signal }),
    /** All of them, for what completes names. */
    all: queryOptions({
      queryKey: [key, 'all'],
      queryFn: async ({ signal }): Promise<readonly R[]> => (await find({ limit: most }, signal)).records,
      staleTime: 60_000,
      // It may have been set in another tab.
      refetchOnWindowFocus: 'always',
      // A builder may lack the scope.
      retry: false,
    }),
    /** Without a record a new one. A name does not change later. `fieldsOf`: what is sent of a draft. */
    async save<D extends { readonly name: string }>(
      record: R | undefined,
      { draft, shown }: { readonly draft: D; readonly shown: D },
      { draftOf, fieldsOf }: { draftOf: (record: R) => D; fieldsOf: (draft: D) => JsonObject },
    ): Promise<void> {
      if (!record) await call('POST', path, { body: { name: draft.name, ...fieldsOf(draft) } })
      else
        await saveChanges<R>(`${path}/${record._meta.guid}`, fieldsOf(draft), fieldsOf(shown), {
          shownOf: (stored) => fieldsOf(draftOf(stored)),
        })
      await forget()
    },
    async remove(guid: string): Promise<void> {
      await call('DELETE', `${path}/${guid}`)
      await forget()
    },
  }
}

export function namesOf(records: readonly NamedRecord[]): readonly string[] {
  return records.map(({ name }) => name).sort()
}

export function valuesOf(
  records: readonly { readonly name: string; readonly value: JsonValue }[],
): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(records.map(({ name, value }) => [name, value]))
}
