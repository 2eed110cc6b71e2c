import type { JsonValue } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Session } from '../storage/storage.ts'
import type { Reply, RunRequest } from './run-request.ts'
import type { Settings, SettingValues } from './setting.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** All that a value block sees of the world. */
export interface ValueContext<S extends Settings = Settings> {
  readonly settings: SettingValues<S>
  /** Values of the pins that the block's settings added, by pin id. Pins that are not wired and hold no literal are absent. */
  readonly more: Readonly<Record<string, unknown>>
  /** The request that started the run; undefined for jobs, schedules and while constants are folded. */
  readonly request: RunRequest | undefined
  /** Whether a wire leaves this out-pin: what nobody reads need not be worked out. */
  wired(outPin: string): boolean
  /** Milliseconds since 1970. The same for all blocks of one run would be wrong for long runs, so it moves on. */
  now(): number
}

/** All that a flow block sees of the world. */
export interface FlowContext<S extends Settings = Settings> extends ValueContext<S> {
  /** The run's transaction. Flow blocks write and read through it and never commit: the engine does. */
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
  /** Sets the result of the function (or run) that the block is in. The first one counts. */
  finish(value: JsonValue | undefined): void
}

/** Values by key, on this node, bounded in number and bytes. A key's value may be gone at any time. */
export interface Cache {
  get(key: string): unknown
  /** `bytes`: about how much memory the value holds. */
  set(key: string, value: unknown, seconds: number, bytes: number): void
  /** Deletes one key, or with a trailing `*` all that start so. Gives how many there were. */
  delete(key: string): number
}
