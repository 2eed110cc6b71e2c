import type { BlockUses } from '../../shared/api/blocks/blocks.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'

/** Types beyond these are of no help to a person who chooses one. */
const MOST_TYPES = 50
/** Milliseconds. Counting reads the index of all blocks, and the order of what is used most changes slowly. */
const MAX_AGE_MS = 60_000

/** The block types that the blueprints use most, the most used first. Counted at most once a minute, however many ask. */
export function openBlockUses(database: Database, clock: Clock): () => Promise<BlockUses> {
  let counted: Promise<BlockUses> | undefined
  let since = 0
  return () => {
    if (counted && clock() - since < MAX_AGE_MS) return counted
    since = clock()
    const counting = countUses(database)
    counted = counting
    counting.catch(() => {
      if (counted === counting) counted = undefined
    })
    return counting
  }
}

async function countUses(database: Database): Promise<BlockUses> {
  const { rows } = await database.session().aggregate(systemStorages.blocks, {
    query: { kind: 'all' },
    groups: [{ field: 'type', as: 'type' }],
    values: [{ figure: 'count', as: 'count' }],
    order: [{ name: 'count', order: 'desc' }],
    limit: MOST_TYPES,
  })
  return objectsIn(rows.value).map(({ type, count }) => ({ type: textIn(type), count: Number(count) }))
}
