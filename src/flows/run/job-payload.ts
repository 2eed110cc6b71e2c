/**
 * Payloads of the jobs of flows, and how they are read back: a job may have been stored by an older version.
 *
 * - function: `{ blueprint, function, parameters, user?, depth }`
 * - event: `{ blueprint, block, storage, guid, change, event, user?, depth, before?, after?, left_out? }`; the two states
 *   are the documents as text, because a payload that held them as objects would be nested one level deeper than
 *   documents may be, and because no code reads them until the job runs.
 * - change: `{ storage, change, query, mutations, include_removed, user?, depth }`
 * - failure: `{ blueprint, block, failure, after_failure }`, of `flows/background/failure-listeners.ts`.
 * - tick: `{ blueprint, block, planned_at }`, made by the scheduler; `planned_at` in milliseconds.
 */

import type { Happening } from '../../blocks/block.ts'
import type { LaterCall } from '../../blocks/context.ts'
import { isDocumentEvent } from '../../blocks/document-event.ts'
import { changedKeys, documentRevisions } from '../../records/documents/document-revisions.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type Database, documentOf, type Origin } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Job, NewJob } from '../../storage/job.ts'
import { type ManyChange, manyChangePayload } from '../../storage/many/many-change.ts'

/** The job for a call that waits. `now` in milliseconds. */
export function laterJob(call: LaterCall, blueprint: string, origin: Origin, now: number): NewJob {
  const { function: name, queue, delay, priority, attempts, backOff, dedupeKey } = call
  const parameters: Record<string, JsonValue> = {}
  for (const [id, value] of Object.entries(call.parameters)) if (value !== undefined) parameters[id] = value
  return {
    queue,
    kind: 'function',
    title: name,
    payload: { blueprint, function: name, parameters, ...originPayload(origin) },
    priority,
    ...{ attempts, backOff },
    ...(delay > 0 && { runAt: now + delay }),
    // With the function's name, so that no builder's key meets another one's, or the cluster's own.
    ...(dedupeKey !== undefined && { dedupeKey: `function ${name} ${dedupeKey}` }),
  }
}

/** How often a change of many documents is tried: each failure has lost one batch at most. */
export const ATTEMPTS_OF_MANY = 25

/** The job that changes many documents. Those of one storage run one after the other. */
export function manyChangeJob(change: ManyChange, origin: Origin, blueprint?: string): NewJob {
  return {
    queue: 'default',
    kind: 'change',
    title: `${change.kind} of documents in ${change.storage}`,
    payload: {
      ...manyChangePayload(change),
      ...(blueprint !== undefined && { blueprint }),
      ...originPayload(origin),
    },
    attempts: ATTEMPTS_OF_MANY,
    orderKey: `change ${change.storage}`,
  }
}

/** What the trigger of a storage event gets of its job. A state that was too large for the job is read as it is now. */
export async function eventInput(
  database: Pick<Database, 'session'>,
  { guid, payload }: Pick<Job, 'guid' | 'payload'>,
): Promise<Happening['storage']> {
  const event: unknown = payload.event
  if (!isDocumentEvent(event))
    throw new TypeError(`The job ${guid} is for the unknown event ${String(event)}.`)
  const previous = parsed(textIn(payload.before))
  const deleted = payload.change === 'deleted'
  const document = deleted ? previous : (parsed(textIn(payload.after)) ?? (await read(database, payload)))
  // Without the former state every field would look as if it were new.
  const compared = document && !deleted && (previous !== undefined || payload.change === 'created')
  const revisions = compared ? documentRevisions(previous, document) : []
  return { event, document, previous, fieldsModified: changedKeys(revisions), revisions, job: guid }
}

/** Text that a storage wrote. */
function parsed(text: string): JsonObject | undefined {
  const value: unknown = text === '' ? undefined : JSON.parse(text)
  return isJsonObject(value) ? value : undefined
}

async function read(
  database: Pick<Database, 'session'>,
  payload: JsonObject,
): Promise<JsonObject | undefined> {
  const options = { removed: true }
  const stored = await database.session().get(textIn(payload.storage), textIn(payload.guid), options)
  return stored && documentOf(stored)
}

/** On whose behalf a run writes, and how that goes along with the jobs that it causes. */
export type Cause = Pick<Origin, 'user' | 'depth' | 'hops' | 'afterFailure' | 'trace'>

/** The cause that the run was started with; without one the user of its request. */
export function runOrigin(run: string, user: JsonObject | undefined, cause: Cause = {}): Origin {
  const by = cause.user ?? (user && userOf(user._meta, user))
  const { depth = 0, hops, afterFailure, trace } = cause
  return {
    ...{ run, depth },
    ...(hops && { hops }),
    ...(afterFailure && { afterFailure }),
    ...(trace !== undefined && { trace }),
    ...(by && { user: by }),
  }
}

/** The cause of a job, for its payload. `run`: the one that stored it, so that taking it back finds the job. */
export function originPayload({ user, depth = 0, hops, afterFailure, run, trace }: Origin): JsonObject {
  return {
    depth,
    ...(run !== undefined && { run }),
    ...(hops && { hops }),
    ...(afterFailure && { after_failure: true }),
    ...(trace !== undefined && { trace }),
    ...(user && { user: { guid: user.guid, username: user.username } }),
  }
}

/** What {@link originPayload} wrote. */
export function originIn({ user, depth, hops, after_failure, trace }: JsonObject): Cause {
  const by = isJsonObject(user) ? userOf(user, user) : undefined
  return {
    depth: typeof depth === 'number' ? depth : 0,
    ...(typeof hops === 'number' && { hops }),
    ...(after_failure === true && { afterFailure: true }),
    ...(typeof trace === 'string' && { trace }),
    ...(by && { user: by }),
  }
}

function userOf(identified: JsonValue | undefined, { username }: JsonObject): Origin['user'] {
  const guid = isJsonObject(identified) ? identified.guid : undefined
  return typeof guid === 'string' && typeof username === 'string' ? { guid, username } : undefined
}
