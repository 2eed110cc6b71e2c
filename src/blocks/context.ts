import type { CustomOutPin } from '../shared/blueprint.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { Mail } from '../shared/mail/mail.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Query } from '../shared/query.ts'
import type { OpenPiece } from '../shared/telemetry.ts'
import type { Session } from '../storage/database.ts'
import type { JobRetries } from '../storage/job.ts'
import type { ManyChange } from '../storage/many/many-change.ts'
import type { Reference } from '../storage/reference/references.ts'
import type { BlockServices } from './block-services.ts'
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
  /** Values that the run's blocks share by name. Not there while constants are folded. */
  readonly variables?: Pick<RunVariables, 'get'> | undefined
  /** Whether a wire leaves this out-pin: an unread value need not be evaluated. */
  wired(outPin: string): boolean
  /**
   * The field of a storage by which rows at an in-pin were grouped into this column, as `orders.customer`: where they come from one
   * block that aggregates. Without a column, what the expression of the pin reads of a row.
   */
  groupedBy?(inPin: string, column?: string): string | undefined
  /** Milliseconds since 1970. The same for all blocks of one run would be wrong for long runs, so it moves on. */
  now(): number
}

/** All that a flow block sees of the world. */
export interface FlowContext<S extends Settings = Settings> extends ValueContext<S> {
  /** The run's transaction. Flow blocks write and read through it and never commit: the run does. */
  readonly session: Session
  readonly cache: Cache
  /** The fields of a storage that refer to documents. */
  readonly references: (storage: string) => MaybePromise<readonly Reference[]>
  /** What the fields of a storage say about their values. */
  readonly rules: (storage: string) => MaybePromise<readonly FieldRule[]>
  readonly variables: RunVariables
  /** Aborted at the run's deadline, on shutdown, and when the run fails elsewhere. Every block that waits obeys it. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970: when the run is stopped. */
  readonly deadline: number
  /** Host names and addresses that `http request` may reach although they are private. */
  readonly allowedHosts: readonly string[]
  /** Begins the piece of a trace for a call of another server. Not there where the run is not traced, as nearly all. */
  readonly outgoing?: (() => OpenPiece | undefined) | undefined
  /** How many tools, here and on other servers, led to the run. */
  readonly hops: number
  /** The time zone of the cluster, for dates where a block names none. */
  readonly timeZone: string
  /** The locale of the cluster, BCP 47, for numbers and dates where a block names none. */
  readonly locale: string
  /** The address at which users reach the cluster, without a slash at its end; empty for none. */
  readonly publicUrl: string
  /** Answers the request. A second reply in one run is ignored and logged. */
  reply(reply: Reply): void
  log(level: LogLevel, value: JsonValue | undefined): void
  /** Runs a custom function in a frame of its own and gives what it returned. */
  call(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
    element?: CalledElement,
  ): MaybePromise<JsonValue | undefined>
  /** Of a custom function that an active blueprint has under this name. */
  signature(name: string): FunctionSignature | undefined
  /**
   * Runs what follows a flow out-pin once, to the end of its last branch, with these values on the block's other out-pins.
   * False: the flow has returned meanwhile, so that no further element is due. A failure names the element.
   */
  runBody(pin: string, element: number, input: Readonly<Record<string, unknown>>): MaybePromise<boolean>
  /**
   * Has a custom function run later, in a run of its own: stored in the run's transaction, and undone with it. Gives the
   * job's guid, or undefined when a job with the same dedupe key waits or runs.
   */
  enqueue(call: LaterCall): MaybePromise<string | undefined>
  /**
   * Has documents changed later, in batches: stored in the run's transaction, and undone with it. Gives the job's guid.
   */
  changeLater(change: ManyChange): MaybePromise<string | undefined>
  readonly services: BlockServices
  /** Has a mail sent later: stored in the run's transaction, and undone with it. Gives the job's guid. */
  mailLater(mail: Mail, retries?: JobRetries): MaybePromise<string | undefined>
  /** Sends JSON text to those who are subscribed to the channel, when what the run has written so far is committed. */
  publish(channel: string, data: string): void
  /**
   * Stores the run in its own transaction. The run continues after this block when the time has
   * come or the wait is ended, in a run of its own. The block gives `next` of another way, or null, for the present run.
   */
  wait(wait: Wait): MaybePromise<StoredWait>
  /**
   * Makes durable what the run wrote so far, as before a block with the effect `calls`. For such a block that goes outside again after a
   * flow that it ran, so that no transaction stays open while another server is waited for.
   */
  commit(): MaybePromise<void>
  /** Sets the result of the function (or run) that the block is in. The first one counts. */
  finish(value: JsonValue | undefined): void
}

/** What a run waits for. */
export interface Wait {
  readonly kind: 'time' | 'approval' | 'request' | 'document'
  /** For people. */
  readonly title: string
  /** Milliseconds since 1970: when the run goes on by itself, and how. Without it, it waits until the wait is ended. */
  readonly until?: { readonly time: number; readonly gives: Readonly<Record<string, unknown>> }
  /** What a page shows of it. */
  readonly details?: JsonValue
  /** Makes a token that ends it, of which only the hash is stored. */
  readonly withToken?: boolean
  /** A document that ends it: the first one that fits. With `none`, it ends when no document fits. */
  readonly awaits?: { readonly storage: string; readonly query: Query; readonly none?: boolean }
  /** Users who hold one of them may end it. Empty: the token alone. */
  readonly scopes?: readonly string[]
  /** On which version of the blueprint it goes on: the one that it began with, or the deployed one. */
  readonly version: 'same' | 'current'
}

export interface StoredWait {
  readonly guid: string
  /** 43 characters of base64url, with `withToken`. */
  readonly token?: string
}

/** What a caller of a custom function has to know. */
export interface FunctionSignature {
  /** Empty where its builder wrote none. */
  readonly description: string
  readonly parameters: readonly CustomOutPin[]
}

/** The element of a list that a custom function is called with. */
export interface CalledElement {
  /** From 0; a failure names it. */
  readonly index: number
  /** The in-pin that parameters without an in-pin come from. */
  readonly pin: string
}

/** Values by name that last as long as the run, in all of its frames. Bounded in size. */
export interface RunVariables {
  get(name: string): JsonValue | undefined
  /** Gives what is wrong, in words that finish "<pin> …", and then changes nothing. */
  set(name: string, value: JsonValue | undefined): string | undefined
  /** Adds an item to the list of this name, which is empty at first. */
  append(name: string, item: JsonValue): string | undefined
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
  /** As in {@link JobRetries}. */
  readonly backOff?: JobRetries['backOff']
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
