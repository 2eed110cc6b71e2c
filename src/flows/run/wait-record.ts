/**
 * Runs that wait, in the storage `_waits`: one document each, written in the transaction of the run that comes to a block which
 * waits, and deleted in the last transaction of the run that continues after it.
 *
 * - waiting: until the job of its time, or a caller, ends the wait.
 * - resumed: `job` goes on with it. A failure leaves it so, and the job is tried again.
 */
import type { Wait } from '../../blocks/context.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Origin } from '../../storage/database.ts'
import { textIn, textsIn } from '../../storage/document-fields.ts'
import { savedKeys } from '../compile/waiting/saved-frame.ts'
import { savedValues } from '../compile/waiting/saved-value.ts'
import type { SavedValue } from '../compile/waiting/stored-frame.ts'
import { originIn } from './job-payload.ts'

export interface WaitRecord {
  readonly guid: string
  readonly updateHash: string
  readonly meta: JsonObject
  readonly state: 'waiting' | 'resumed'
  readonly kind: Wait['kind']
  readonly title: string
  readonly blueprint: string
  /** Number of the deployment that the run began with; 0 where it is not known. */
  readonly deployment: number
  readonly version: Wait['version']
  /** Guids of blocks. */
  readonly trigger: string
  readonly block: string
  /** Whether the run begins with the block itself. */
  readonly itself: boolean
  /** The first run. */
  readonly run: string
  /** Milliseconds; null when only a caller ends it. */
  readonly until: number | null
  /** What the block gives when its time has come, or, once it is resumed, what it gives now. */
  readonly gives: Readonly<Record<string, SavedValue>>
  /** Guid of the job of its time; empty without one. */
  readonly timer: string
  /** SHA-256 of the token that ends it, as hex; empty without one. */
  readonly tokenHash: string
  /** Of the kind `document`. */
  readonly awaits: Wait['awaits'] | undefined
  /** On whose behalf the run began. */
  readonly origin: Pick<Origin, 'user' | 'depth'>
  /** What the caller of the request held that the run began with; undefined for an anonymous one, and for a job. */
  readonly callerScopes: ReadonlySet<string> | undefined
  /** Guid of the job that goes on with it. */
  readonly job: string
  /** {@link SavedFrame} as text: nothing searches in it. */
  readonly values: string
  readonly scopes: readonly string[]
  readonly details: JsonValue
}

const kinds = ['time', 'approval', 'request', 'document'] as const satisfies readonly Wait['kind'][]

export function waitRecordOf(document: JsonObject): WaitRecord {
  const { _meta: meta, scopes } = document
  const { guid, update_hash: hash } = isJsonObject(meta) ? meta : {}
  return {
    guid: textIn(guid),
    updateHash: textIn(hash),
    meta: isJsonObject(meta) ? meta : {},
    state: document.state === 'resumed' ? 'resumed' : 'waiting',
    kind: kinds.find((kind) => kind === document.kind) ?? 'time',
    title: textIn(document.title),
    blueprint: textIn(document.blueprint),
    deployment: typeof document.deployment === 'number' ? document.deployment : 0,
    version: document.version === 'current' ? 'current' : 'same',
    trigger: textIn(document.trigger),
    block: textIn(document.block),
    itself: document.itself === true,
    run: textIn(document.run),
    until: typeof document.until === 'number' ? document.until : null,
    gives: givesIn(textIn(document.gives)),
    timer: textIn(document.timer),
    tokenHash: textIn(document.token_hash),
    awaits: awaitsIn(document),
    origin: originIn(document),
    callerScopes: Array.isArray(document.caller_scopes)
      ? new Set(textsIn(document.caller_scopes))
      : undefined,
    job: textIn(document.job),
    values: textIn(document.values),
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    details: detailsIn(textIn(document.details)),
  }
}

/** As text, like `values` and `details`: what a service sends would fill the shape of the storage with its fields. */
export function givesText(gives: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(savedValues(gives))
}

/** What {@link givesText} wrote. */
function givesIn(stored: string): WaitRecord['gives'] {
  return stored === '' ? {} : JSON.parse(stored)
}

function detailsIn(stored: string): JsonValue {
  return stored === '' ? null : JSON.parse(stored)
}

function awaitsIn({ awaited, query, awaits_none: none }: JsonObject): WaitRecord['awaits'] {
  const storage = textIn(awaited)
  return storage === '' ? undefined : { storage, query: JSON.parse(textIn(query)), none: none === true }
}

/** What blocks behind the wait can read, as `reads` of a point names it. */
export function storedKeys({ values }: WaitRecord): ReadonlySet<string> {
  return savedKeys(JSON.parse(values))
}
