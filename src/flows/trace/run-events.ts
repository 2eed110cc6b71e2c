/**
 * Listeners are told when a run begins on this node, and when a run is paused or has ended on any node. Runs of other
 * nodes are read from the storage, and only while there is a listener; of short runs only the end is told.
 */

import type { RunSummary } from '../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { isUnderWay, type RunRecord, summaryIn, summaryOf } from './run-record.ts'

type Listener = (summary: JsonObject) => void

export interface RunEvents {
  /** Gives a function that ends it. */
  listen(listener: Listener): () => void
  /** A run of this node begins. */
  tell(summary: RunSummary): void
  /** A record of this node can be read. */
  stored(record: RunRecord): void
  close(): void
}

/** Runs of which it is remembered what was told last; more than are ever under way. */
const REMEMBERED = 1_000

export function openRunEvents(database: Database, node: string): RunEvents {
  const listeners = new Set<Listener>()
  /** Of runs that are under way: what was told last. They are stored more often than they have news. */
  const reported = lruCache<string, string>(REMEMBERED)

  function tell(summary: JsonObject, pause: unknown): void {
    const guid = textIn(summary.guid)
    const since = isJsonObject(pause) ? `${pause.block} ${pause.since}` : ''
    const news = `${summary.status} ${since}`
    const former = reported.get(guid)
    if (isUnderWay(summary)) reported.set(guid, news)
    else reported.delete(guid)
    // A run that continues after a pause is not reported.
    if (former === news || (former !== undefined && summary.status === 'running')) return
    for (const listener of listeners) listener(summary)
  }

  const unwatch = database.capabilities.changes.watch(systemStorages.runs, async (guids = []) => {
    if (listeners.size === 0) return
    const session = database.session()
    for (const guid of guids) {
      const stored = await session.get(systemStorages.runs, guid)
      const document = stored && documentOf(stored)
      if (document && textIn(document.node) !== node) tell(summaryOf(document), document.paused)
    }
  })

  return {
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    tell: (summary) => tell(summary, null),
    stored: (record) => tell(summaryIn(record.guid, record), record.paused),
    close() {
      listeners.clear()
      unwatch()
    },
  }
}
