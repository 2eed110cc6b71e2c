/**
 * Documents with the documents that they refer to, under `_expand` and the name of the field. One search for each storage that
 * is referred to, however many documents there are.
 */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../database.ts'
import { guidOf, objectsIn } from '../document-fields.ts'
import { StoredJson } from '../stored-json.ts'
import type { Reference } from './references.ts'

/** Documents that are expanded at once: their text is read and written in one turn of the event loop. */
export const MOST_EXPANDED = 1_000

/** `documents`: one, or a list of at most {@link MOST_EXPANDED}. A document that is removed, or not there, is null. */
export function expandDocuments(
  session: Pick<Session, 'find'>,
  documents: StoredJson,
  references: readonly Reference[],
): MaybePromise<StoredJson> {
  const { value } = documents
  const list = Array.isArray(value) ? objectsIn(value) : [isJsonObject(value) ? value : {}]
  if (list.length === 0) return documents
  return andThen(targetsOf(session, list, references), (targets) => {
    const expanded = list.map((document) => withTargets(document, references, targets))
    return new StoredJson(JSON.stringify(Array.isArray(value) ? expanded : expanded[0]))
  })
}

/** By storage and guid. */
type Targets = ReadonlyMap<string, ReadonlyMap<JsonValue, JsonObject>>

function targetsOf(
  session: Pick<Session, 'find'>,
  documents: readonly JsonObject[],
  references: readonly Reference[],
): MaybePromise<Targets> {
  const targets = new Map<string, Map<JsonValue, JsonObject>>()
  const chunks = [...Map.groupBy(references, ({ storage }) => storage)].flatMap(([storage, fields]) => {
    targets.set(storage, new Map())
    return inChunks(guidsIn(documents, fields)).map((guids) => ({ storage, guids }))
  })
  return chunks.reduce<MaybePromise<Targets>>(
    (before, { storage, guids }) =>
      andThen(before, () => {
        const query = { kind: 'terms', field: '_meta.guid', values: guids } as const
        const sort = [{ field: '_meta.guid', order: 'asc', missing: 'last' }] as const
        return andThen(session.find(storage, search({ query, sort, limit: guids.length })), (found) => {
          for (const target of objectsIn(found.documents.value))
            targets.get(storage)?.set(guidOf(target), target)
          return targets
        })
      }),
    targets,
  )
}

function guidsIn(documents: readonly JsonObject[], references: readonly Reference[]): readonly string[] {
  const guids = new Set<string>()
  for (const { field } of references) {
    const path = parseFieldPath(field)
    for (const document of documents) {
      const guid = valueAt(document, path)
      if (typeof guid === 'string' && guid !== '') guids.add(guid)
    }
  }
  return [...guids].sort()
}

function inChunks(guids: readonly string[]): readonly (readonly string[])[] {
  const chunks: (readonly string[])[] = []
  for (let at = 0; at < guids.length; at += MOST_EXPANDED) chunks.push(guids.slice(at, at + MOST_EXPANDED))
  return chunks
}

function withTargets(document: JsonObject, references: readonly Reference[], targets: Targets): JsonObject {
  const expanded = references.map(({ field, storage }): [string, JsonValue] => {
    const guid = valueAt(document, parseFieldPath(field)) ?? null
    return [field, targets.get(storage)?.get(guid) ?? null]
  })
  return { ...document, _expand: Object.fromEntries(expanded) }
}
