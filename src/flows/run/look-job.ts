import type { JsonObject } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import { type NewJob, waitQueue } from '../../storage/job.ts'

/** Waits for documents of this storage. */
export function awaitingIn(storage: string): Query {
  return {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'awaited', value: storage },
      { kind: 'term', field: 'state', value: 'waiting' },
    ],
  }
}

/** Those of them that end when no document fits. */
export function awaitingNoneIn(storage: string): Query {
  return {
    kind: 'and',
    queries: [awaitingIn(storage), { kind: 'term', field: 'awaits_none', value: true }],
  }
}

/**
 * Looks whether documents end waits: `{ look }`, the guid of a wait, at all documents of its storage; `{ storage, document }`
 * at one document that was written, for all waits of its storage.
 */
export function lookJob(payload: JsonObject, runAt?: number): NewJob {
  return { queue: waitQueue, kind: 'wait', title: 'Look for an awaited document', payload, runAt }
}

export function isLookJob({ look, document }: JsonObject): boolean {
  return look !== undefined || document !== undefined
}
