import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Session } from '../storage/database.ts'
import type { Reply } from './reply.ts'
import type { RunRequest } from './run-request.ts'
import type { Settings, SettingValues } from './setting.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** All that a value block sees of the world. */
export interface ValueContext<S extends Settings = Settings> {
  readonly settings: SettingValues<S>
  /** Values of the pins that the block's settings added, by pin id. Pins that are not wired and hold no literal are absent. */
  readonly more: Readonly<Record<string, unknown>>
  /** The request that started the run; undefined for jobs, schedules and while constants are folded. */
  readonly request: RunRequest | undefined
  /** The user for whom the run is, without secrets; for jobs too. Not there while constants are folded. */
  readonly user?: JsonObject | undefined
  /** Guid of the block. */
  readonly block?: string
  /** Whether a wire leaves this out-pin: an unread value need not be evaluated. */
  wired(outPin: string): boolean
  /** Milliseconds since 1970. The same for all blocks of one run would be wrong for long runs, so it moves on. */
  now(): number
}

/** All that a flow block sees of the world. */
export interface FlowContext<S extends Settings = Settings> extends ValueContext<S> {
  /** The run's transaction. Flow blocks write and read through it and never commit: the run does. */
  readonly session: Session
  readonly cache: Cache
  /** Aborted at the run's deadline, on shutdown, and when the run fails elsewhere. Every block that waits obeys it. */
  readonly signal: AbortSignal
  /** Host names and addresses that `http request` may reach although they are private. */
  readonly allowedHosts: readonly string[]
  /** Answers the request. A second reply in one run is ignored and logged. */
  reply(reply: Reply): void
  log(level: LogLevel, value: JsonValue | undefined): void
  /** Runs a custom function in a frame of its own and gives what it returned. */
  call(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
  ): MaybePromise<JsonValue | undefined>
  /**
   * Has a custom function run later, in a run of its own: stored in the run's transaction, and undone with it. Gives the
   * job's guid, or undefined when a job with the same dedupe key waits or runs.
   */
  enqueue(call: LaterCall): MaybePromise<string | undefined>
  /** Sets the result of the function (or run) that the block is in. The first one counts. */
  finish(value: JsonValue | undefined): void
}

/** A call of a custom function that waits in a queue. */
export interface LaterCall {
  readonly function: string
  readonly parameters: Readonly<Record<string, JsonValue | undefined>>
  readonly queue: string
  /** Milliseconds. */
  readonly delay: number
  /** −1000 to 1000, higher first. */
  readonly priority: number
  /** 1 to 100. */
  readonly attempts: number
  /** Unique among the waiting and running calls of this function. */
  readonly dedupeKey?: string
}

/** Values by key, on this node, bounded in number and bytes. A key's value may be gone at any time. */
export interface Cache {
  /** Raised by each deletion: a value that was read before it may be what the deletion was about, and is not to be kept. */
  readonly deletions: number
  get(key: string): unknown
  /** `bytes`: about how much memory the value holds. */
  set(key: string, value: unknown, seconds: number, bytes: number): void
  /**
   * Deletes one key, or with a trailing `*` all that start so, on every node. Gives how many there were on this one.
   */
  delete(key: string): MaybePromise<number>
}
