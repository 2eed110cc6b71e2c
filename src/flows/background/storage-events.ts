/**
 * Tells the flows that listen to storages. A write to a document stores one job for each trigger that listens for it, in
 * the same transaction: an acknowledged write has its event handled; an undone write has no event.
 *
 * A flow that writes to the storage it listens to would never end. Each event knows how many events led to it. The writes
 * of the eighth event's flow are stored without an event, and the system log says so.
 */
import { type DocumentEvent, documentEventOf, documentEventWords } from '../../blocks/document-event.ts'
import type { SystemLog } from '../../records/system-log.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Change, Database, Session } from '../../storage/database.ts'
import { eventQueue, type JobRetries, type NewJob } from '../../storage/job.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { LiveBlueprints, LiveTable } from '../live/live-blueprints.ts'
import { originPayload } from '../run/job-payload.ts'

const MAX_EVENT_DEPTH = 8

/** Bytes of both states in a payload; a job holds 1 MiB at most. */
const LARGEST_STATES = 900_000

interface Listener {
  readonly blueprint: string
  readonly name: string
  readonly block: string
  readonly events: readonly DocumentEvent[]
  readonly retries?: JobRetries | undefined
}

interface StorageEventOptions {
  readonly database: Pick<Database, 'observe'>
  readonly live: Pick<LiveBlueprints, 'watch'>
  readonly log: Pick<SystemLog, 'write'>
}

/** Begins to tell, and follows what is activated and deactivated. Gives a function that ends it. */
export function openStorageEvents({ database, live, log }: StorageEventOptions): () => void {
  let listeners: ReadonlyMap<string, readonly Listener[]> = new Map()
  const observed = new Map<string, () => void>()

  function tell(session: Session, change: Change): MaybePromise<void> {
    const heard = (listeners.get(change.storage) ?? []).flatMap((listener) => {
      const event = documentEventOf(change.kind, listener.events)
      return event ? [{ listener, event }] : []
    })
    if (heard.length === 0) return undefined
    const depth = (session.origin.depth ?? 0) + 1
    if (depth > MAX_EVENT_DEPTH) {
      for (const { listener, event } of heard) log.write(tooDeep(listener, event, change, session))
      return undefined
    }
    const states = statesOf(change)
    return heard.reduce<MaybePromise<void>>(
      (reported, { listener, event }) =>
        andThen(reported, () =>
          andThen(session.enqueue(jobOf(listener, event, change, session, states)), () => undefined),
        ),
      undefined,
    )
  }

  const unwatch = live.watch((table) => {
    listeners = listenersOf(table)
    for (const name of listeners.keys())
      if (!observed.has(name)) observed.set(name, database.observe(name, tell))
    for (const [name, end] of observed) {
      if (listeners.has(name)) continue
      observed.delete(name)
      end()
    }
  })
  return () => {
    unwatch()
    for (const end of observed.values()) end()
    observed.clear()
  }
}

function listenersOf(table: LiveTable): ReadonlyMap<string, readonly Listener[]> {
  const listeners = new Map<string, Listener[]>()
  for (const [blueprint, { compiled, name }] of table.blueprints) {
    for (const { block, listening } of compiled.storageEvents) {
      const others = listeners.get(listening.storage) ?? []
      listeners.set(listening.storage, [
        ...others,
        { blueprint, name, block, events: listening.events, retries: listening.retries },
      ])
    }
  }
  return listeners
}

function jobOf(
  { blueprint, name, block, retries }: Listener,
  event: DocumentEvent,
  { storage, guid, kind }: Change,
  { origin }: Session,
  states: JsonObject,
): NewJob {
  const caused = originPayload({ ...origin, depth: (origin.depth ?? 0) + 1 })
  return {
    queue: eventQueue,
    kind: 'event',
    ...retries,
    title: `${storage}: document ${documentEventWords[event]}, for ${name}`,
    payload: { blueprint, block, storage, guid, change: kind, event, ...caused, ...states },
    // In order per document and trigger: the retries of one that fails must not hold back the others.
    orderKey: `${storage} ${guid} ${block}`,
  }
}

/**
 * The states as text. A write must not fail because its documents are too large for a job: then the former state is left
 * out, and if that is not enough the other one too, which the job reads again when it runs.
 */
function statesOf(change: Change): JsonObject {
  const before = stateOf('before', change.before)
  const after = stateOf('after', change.after)
  if (before.bytes + after.bytes <= LARGEST_STATES) return { ...before.state, ...after.state }
  // What was deleted cannot be read again.
  const included = change.after ? after : before
  return included.bytes <= LARGEST_STATES ? { ...included.state, left_out: true } : { left_out: true }
}

function stateOf(name: 'before' | 'after', stored: StoredJson | undefined) {
  if (!stored) return { bytes: 0, state: {} }
  // A character is three bytes at most; only where that could be too much is it worth counting.
  const most = 3 * stored.text.length
  const bytes = most <= LARGEST_STATES / 2 ? most : Buffer.byteLength(JSON.stringify(stored.text))
  return { bytes, state: { [name]: stored.text } }
}

function tooDeep(
  { blueprint, name, block }: Listener,
  event: DocumentEvent,
  { storage, guid }: Change,
  { origin }: Session,
) {
  return {
    level: 'error',
    message: `"${name}" was not told ${event} of ${guid} in ${storage}: ${MAX_EVENT_DEPTH} storage events led to this write, one after the other. A flow that writes to the storage it watches needs a condition that ends the chain.`,
    blueprint,
    block,
    ...(origin.run !== undefined && { run: origin.run }),
  } as const
}
