import type { UniqueValues } from '../../capabilities.ts'
import type { PostgresParts } from '../core/postgres-parts.ts'
import { dropKey, makeUnique } from './make-unique.ts'

/** `during`: the database is not closed before such work is over. */
export function postgresUniqueKeys(
  parts: PostgresParts,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): UniqueValues {
  const { catalogue } = parts
  const keysOf = (storage: string) => catalogue.find(storage)?.unique ?? []
  return {
    of: (storage) => keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [definition] : [])),
    unfinished: (storage) =>
      keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [] : [definition.name])),
    keep: (storage, key) => during(() => makeUnique(parts, storage, key)),
    drop: (storage, name) =>
      during(async () => {
        await catalogue.reload()
        for (const key of keysOf(storage)) if (key.definition.name === name) await dropKey(parts, key)
      }),
  }
}
