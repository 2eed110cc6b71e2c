/**
 * Aggregates in one turn of the event loop where there are few documents, else in the search thread. A transaction that has
 * written to the storage has nowhere else to go: it may aggregate so many documents as take some 30 ms.
 */

import { QuoinError } from '../../../shared/errors.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { StoredJson } from '../../stored-json.ts'
import { keptAggregate } from '../cache/kept-aggregates.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { type Aside, after, isCurrent, type Parts } from './aside-search.ts'
import { checkIndexed, type SearchPlace } from './bounded-search.ts'
import { aggregateDocuments } from './sqlite-aggregate.ts'
import { whereSql } from './sqlite-query.ts'

/** Documents of a storage that are aggregated in this turn: at 2 to 4 µs each. */
const FEW_DOCUMENTS = 3_000
/** Documents that match, for a transaction that has written to the storage. */
const MOST_FOR_A_WRITER = 10_000

/** Throws EffortSpent. */
export function boundedAggregate(place: SearchPlace, wanted: Aggregate): Aggregated {
  checkAggregate(wanted)
  const { connection, entry, alone, effort } = place
  return connection.within(effort, () => {
    checkIndexed(place, wanted.query)
    const last = connection.get(`SELECT ifnull(max(id), 0) AS last FROM ${entry.table}`)
    if (numberOf(last ?? {}, 'last') > FEW_DOCUMENTS) {
      if (!alone) throw new EffortSpent()
      checkFew(connection, entry, wanted)
    }
    return aggregateDocuments(connection, entry, wanted)
  })
}

/** What the thread found is kept while nothing was written to the storage in between. */
export async function aggregateAside(
  parts: Parts,
  entry: StorageEntry,
  wanted: Aggregate,
  { keep, effort }: Aside,
): Promise<Aggregated> {
  const { catalogue, results, thread } = parts
  const { name } = entry
  const version = catalogue.version(name)
  const answer = await thread.aggregate({ storage: name, aggregate: wanted, effort })
  const aggregated = { rows: new StoredJson(answer.rows), total: answer.total }
  if (keep && isCurrent(parts, entry, version))
    keptAggregate(results, name, version, wanted, () => aggregated)
  after(parts, entry, 'count', { query: wanted.query, includeRemoved: false }, answer.milliseconds)
  return aggregated
}

function checkFew(connection: SqliteConnection, entry: StorageEntry, { query }: Aggregate): void {
  const { sql, parameters } = whereSql(entry, query, false)
  const most = MOST_FOR_A_WRITER + 1
  const row = connection.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${entry.table} WHERE ${sql} LIMIT ${most})`,
    ...parameters,
  )
  if (numberOf(row ?? {}, 'n') < most) return
  throw new QuoinError(
    'UNAVAILABLE',
    `This aggregate would read more than ${MOST_FOR_A_WRITER} documents in a run that has written to ${entry.name} and not committed. Aggregate before the first write, or narrow the condition.`,
  )
}
