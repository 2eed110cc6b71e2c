/** Advice for administrators: which indexes would make the slow searches on a storage fast. */

import { type StorageContext, storageNamed } from '../../records/storage-records.ts'
import type { SlowSearchRecord, StorageAdvice } from '../../shared/api/data/storages.ts'
import { isThere, type RequestedIndex } from '../../storage/search/index-advice.ts'
import type { SlowSearch } from '../../storage/search/search-advisor.ts'
import type { LiveBlueprints } from './live-blueprints.ts'

/** NOT_FOUND for a guid of something else. */
export async function adviseStorage(
  context: StorageContext,
  live: LiveBlueprints,
  guid: string,
): Promise<StorageAdvice> {
  const name = await storageNamed(context, guid)
  const { database } = context.records
  const { indexes, text } = database.capabilities.indexes.of(name)
  return {
    indexes: indexes.map(({ fields, unique = false }) => ({ fields: [...fields], unique })),
    text_index: text,
    searches: database.capabilities.indexes
      .slow(name)
      .map((slow) => adviceOn(slow, broughtBy(live, name, slow))),
  }
}

type Bringer = SlowSearchRecord['brought_by'][number]

function broughtBy(live: LiveBlueprints, storage: string, { advice }: SlowSearch): Bringer[] {
  return [...live.table().blueprints].flatMap(([guid, { compiled, name }]) => {
    const needs = compiled.needs.get(storage)
    const brings =
      (advice.text && needs?.text) || (advice.index && isThere(advice.index, needs?.indexes ?? []))
    return brings ? [{ guid, name }] : []
  })
}

function adviceOn(slow: SlowSearch, bringers: Bringer[]): SlowSearchRecord {
  const { kind, filter, sort, times, milliseconds, rows, first, last, advice } = slow
  return {
    kind,
    filter,
    sort: sort ? sort.map(({ field, order }) => ({ field, order })) : null,
    times,
    milliseconds: Math.round(milliseconds * 10) / 10,
    rows,
    first: Math.floor(first / 1000),
    last: Math.floor(last / 1000),
    index: advice.index ? [...advice.index.fields] : null,
    text_index: advice.text,
    brought_by: bringers,
    why: advice.why,
    how: whatToDo(advice, bringers),
  }
}

function whatToDo({ index, text }: SlowSearch['advice'], [bringer]: readonly Bringer[]): string {
  if (bringer) return `Deploy "${bringer.name}" again: it needs the index, which is missing or not ready.`
  if (text)
    return 'Create the text index of this storage, or deploy a flow with a free-text search on it: that creates the index.'
  if (index)
    return `Deploy a flow with a search on this storage that ${spoken(index)}: that creates the index.`
  return 'No index helps. Change the search, or cache its result (cache_key).'
}

function spoken({ fields, equal }: RequestedIndex): string {
  const filters = fields.slice(0, equal).join(' and ')
  const [order] = fields.slice(equal)
  const parts = [
    ...(filters === '' ? [] : [`filters by ${filters}`]),
    ...(order === undefined
      ? []
      : [`sorts by ${fields.slice(equal).join(', then ')} (or has it in a range)`]),
  ]
  return `${parts.join(' and ')}, with the field names written in its blocks`
}
