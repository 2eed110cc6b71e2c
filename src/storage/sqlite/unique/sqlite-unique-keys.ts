import type { UniqueValues } from '../../capabilities.ts'
import type { SqliteParts } from '../core/sqlite-parts.ts'
import { dropKey, makeUnique } from './make-unique.ts'

/** `inOrder` does changes of one storage one after the other. */
export function sqliteUniqueKeys(
  parts: SqliteParts,
  inOrder: (name: string, change: () => Promise<void>) => Promise<void>,
): UniqueValues {
  const { catalogue } = parts
  const keysOf = (storage: string) => catalogue.find(storage)?.unique ?? []
  return {
    of: (storage) => keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [definition] : [])),
    unfinished: (storage) =>
      keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [] : [definition.name])),
    async keep(storage, key) {
      let duplicates: Awaited<ReturnType<typeof makeUnique>>
      await inOrder(storage, async () => {
        duplicates = await makeUnique(parts, catalogue.entry(storage), key)
      })
      return duplicates
    },
    drop: (storage, name) =>
      inOrder(storage, async () => {
        const entry = catalogue.find(storage)
        for (const key of keysOf(storage))
          if (entry && key.definition.name === name) await dropKey(parts, entry, key)
      }),
  }
}
