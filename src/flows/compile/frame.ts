import type { Happening, Listening } from '../../blocks/block.ts'
import type { BlockServices } from '../../blocks/block-services.ts'
import type {
  Cache,
  FlowContext,
  FunctionSignature,
  LogLevel,
  RunVariables,
  StoredWait,
  Wait,
} from '../../blocks/context.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { FunctionContext } from '../../expressions/language/function-declaration.ts'
import type { ConnectionAuth } from '../../shared/api/operate/connections.ts'
import type { Clock } from '../../shared/clock.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import type { References } from '../../storage/reference/references.ts'
import type { RepliesBy } from '../values/value-shape.ts'
import type { LaterWork } from './later-work.ts'
import type { FormerRequest, SavedFrame } from './waiting/stored-frame.ts'

/** What a block may have found instead of what it was to work on, or that it may not go on now. */
export type UnhandledOutcome = 'not_found' | 'conflict' | 'refused' | 'exceeded'

/** Who has decrypted a secret. */
export interface SecretUse {
  readonly name: string
  readonly blueprint: string
  readonly block: string
}

/** The secrets of the cluster, for pins of the type `secret`. */
export interface RunSecrets {
  /** `to`: where it would be sent. */
  open(name: string, to?: URL): { readonly value: string } | { readonly problem: string }
  /** Never waits and never throws. */
  used(use: SecretUse): void
}

/** A connection of the cluster, for pins of the type `http_connection`. The same object until it changes. */
export interface NamedConnection {
  readonly baseUrl: URL
  readonly headers: Readonly<Record<string, string>>
  readonly auth: ConnectionAuth
}

/** What a step may do with the run that it is part of. `run.ts` keeps these promises. */
export interface RunControl {
  readonly session: Session
  /** Whether a block has asked for the session: it may have read or written. */
  begun: boolean
  /** The same transaction, on behalf of the user of the request. */
  readonly userSession: Session
  /** Guid of the blueprint. */
  readonly blueprint: string
  readonly request: RunRequest | undefined
  /** What is left of the request of a run that has waited. */
  readonly former: FormerRequest | undefined
  /** The request's user, or the user who caused the job. */
  readonly user: JsonObject | undefined
  readonly steps: RunPace
  readonly environment: {
    readonly clock: Clock
    readonly cache: Cache
    readonly references?: (() => MaybePromise<References>) | undefined
    readonly rulesOf?: FlowContext['rules'] | undefined
    readonly allowedHosts: () => readonly string[]
    readonly outgoing?: FlowContext['outgoing']
    readonly secrets: RunSecrets
    readonly connections: (name: string) => NamedConnection | undefined
    readonly publicUrl: string
    readonly values: { readonly timeZone: string; readonly locale: string }
  }
  /** What functions in expressions see of the world. */
  readonly functions: RunFunctions
  readonly variables: StoredVariables
  /** Values of the environment by name: the same ones to the end of the run. */
  readonly env: JsonObject
  /**
   * A block took a way that is not wired. The first one decides how a request without a reply ends. `taken`: the unique
   * fields whose values another document has. `retryAfter`: seconds, of `exceeded`.
   */
  missed(way: UnhandledOutcome, taken: readonly string[], retryAfter?: number): void
  /** What the page's own flow has missed does not count for what its visitor sent. */
  eventBegins(): void
  /** The reply to what a visitor sent, where its flow gave none. Throws where that took a way that is not wired. */
  eventEnds(reply: Reply, block: string): void
  readonly services: BlockServices
  reply(reply: Reply, block: string): void
  /** The commit that a reply waits for, if there is one. */
  settle(): Promise<void> | undefined
  signature(name: string): FunctionSignature | undefined
  callFunction(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined>
  readonly later: LaterWork
  /** Stores the run in its own transaction, to continue after a block later. */
  wait(point: ResumePoint, frame: Frame, wait: Wait): MaybePromise<StoredWait>
  /** Before a block that touches the world outside: a run that has waited begins again there after a crash. */
  reached(point: ResumePoint, frame: Frame): MaybePromise<void>
  /** Makes what was written so far durable, and then publishes what was to be published with it. */
  commit(): MaybePromise<void>
  publish(channel: string, data: string): void
  /** A block is about to do what would be done a second time if the request were sent again. */
  happens(effect: BlockEffect): void
  log(entry: {
    readonly level: LogLevel
    readonly message: string
    readonly value?: JsonValue | undefined
    readonly block?: string
  }): void
}

/** Drives the blocks of a run, and says whether it may go on. `run/run-steps.ts` keeps these promises. */
export interface RunPace {
  readonly signal: AbortSignal
  /** Milliseconds since 1970: when the run is stopped. */
  readonly deadline: number
  /** Blocks that the run may still execute. */
  readonly budget: number
  refill(budget: number): void
  /** Before each block. Throws RunStopped when the run may not go on. */
  checkpoint(): void
  /** After a block: how many values the largest thing that it gave holds. */
  chargeSize(values: number): void
  /** Between two passes of a body: a pause, when the run has had a long turn. */
  yieldIfLong(): Promise<void> | undefined
  /** Runs steps until a branch ends. */
  drive(first: Step | undefined, frame: Frame): MaybePromise<void>
}

/** Variables of a run that can be written down while it waits. */
export interface StoredVariables extends RunVariables {
  readonly size: number
  all(): JsonObject
}

/** The clock stands still within one evaluation of an expression. */
export interface RunFunctions extends FunctionContext {
  startEvaluation(): void
}

export interface SentValues {
  /** Those of path and query. */
  readonly fields: ReadonlySet<string>
  /** By field, and `body` with its defaults. */
  readonly input: Readonly<Record<string, unknown>>
}

/** The values of one execution of one flow: the run's own, or one call of a custom function. */
export interface Frame {
  readonly run: RunControl
  /** One place for each out-pin that a block reads, as the compiler numbered them. */
  readonly slots: unknown[]
  /** How many custom functions deep. */
  readonly depth: number
  /** Of the custom function that the frame is a call of. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined
  /** What a request gave by the schema of its trigger. */
  readonly sent: SentValues | undefined
  result: JsonValue | undefined
  finished: boolean
}

/** A slot of a value block that has not been evaluated. `undefined` is a value: empty. */
export const UNSET: unique symbol = Symbol('unset')

/**
 * One flow block, compiled. Gives the step that follows it, so that a long chain is a loop and not a recursion; a promise
 * only where it really waited.
 */
export type Step = (frame: Frame) => Step | undefined | Promise<Step | undefined>

/** A block at which a run can be stored, and go on later in another process: behind a wait, or at the block itself. */
export interface ResumePoint {
  readonly block: string
  /** The values that this block, if it is to run itself, and those behind it read. Throws for what cannot be stored. */
  save(frame: Frame): SavedFrame
  restore(frame: Frame, saved: SavedFrame): void
  /** What `save` stores, by key, in words: out-pins of blocks before this one that only they can give, and names of the request. */
  reads(): ReadonlyMap<string, string>
  /** Type of the block. */
  readonly type: string
  /** Puts what the block gives where others read it, and gives what follows. */
  readonly behind: (frame: Frame, input: Readonly<Record<string, unknown>>) => MaybePromise<Step | undefined>
  /** The block itself. */
  readonly itself: Step
}

/** What a block does that stays: outside at once, the others with the commit. */
export interface BlockEffect {
  /** Guid and title of the block. */
  readonly block: string
  readonly title: string
  readonly kind: 'call' | 'file' | 'user' | 'mail' | 'job' | 'wait' | 'message' | 'write'
}

/** The out-pin whose value is in a slot. */
export interface SlotPin {
  readonly block: string
  readonly type: string
  readonly kind: 'flow' | 'value' | 'trigger'
  readonly pin: string
}

/** A trigger with everything behind it. */
export interface CompiledFlow {
  readonly trigger: string
  /** The slots of a new frame. Copied, never written. */
  readonly slots: readonly unknown[]
  /** What the slots hold, by number: read when a run has failed. */
  readonly slotPins?: readonly SlotPin[]
  /** Puts what the trigger gives where the blocks behind it read it. */
  readonly accept: (frame: Frame, input: Readonly<Record<string, unknown>>) => void
  readonly first: Step | undefined
  /** Whether its reply to an address stays the same until something that it has read is written. */
  readonly cacheable?: boolean
  /** Whether a block acts as the user: where rules of storages count, its reply is of that user. */
  readonly asUser?: boolean
  /** A block that writes follows one that reads; on a page perhaps only when a visitor sent something. */
  readonly unit?: 'always' | 'when_sent' | undefined
  /** The same of a flow with a block that writes, and which is no unit of work. */
  readonly writes?: 'always' | 'when_sent' | undefined
  /** Gives the key of runs that come one after the other; an empty one: this run waits for none. */
  readonly oneAtATime?: CompiledFlow
  /** Of a custom function: what it is given are the `params` of its expressions. */
  readonly isFunction?: true
  /** Where its runs can be stored, by block. None in a flow that never waits. */
  readonly resumePoints?: ReadonlyMap<string, ResumePoint>
  /** Fields of path and query that the trigger's schema names. */
  readonly typedFields?: ReadonlySet<string>
}

/** What triggers of the kind `function` become. */
export interface CompiledFunction extends FunctionSignature {
  readonly block: string
  readonly name: string
  /** Its name among the tools of `/mcp`, for callers who hold any of the scopes. */
  readonly tool?: string
  readonly scopes: readonly string[]
  readonly flow: CompiledFlow
  readonly start: (
    parameters: Readonly<Record<string, JsonValue | undefined>>,
  ) => Readonly<Record<string, unknown>>
}

/** What triggers of the kind `storage` become. */
export interface CompiledStorageEvent {
  readonly block: string
  readonly listening: Listening['storage']
  readonly flow: CompiledFlow
  readonly start: (event: Happening['storage']) => Readonly<Record<string, unknown>>
}

/** What triggers of the kind `schedule` become. */
export interface CompiledSchedule {
  readonly block: string
  readonly listening: Listening['schedule']
  readonly flow: CompiledFlow
  /** A flow whose result is the date of the next run, as text, or empty; undefined when a clock decides. */
  readonly nextRun: CompiledFlow | undefined
  readonly start: (tick: Happening['schedule']) => Readonly<Record<string, unknown>>
}

/** What triggers of the kind `failure` become. */
export interface CompiledFailureEvent {
  readonly block: string
  readonly listening: Listening['failure']
  readonly flow: CompiledFlow
  readonly start: (failure: Happening['failure']) => Readonly<Record<string, unknown>>
}

/** A write on behalf of the visitor, which permissions of the storage may refuse. */
export interface PageWrite {
  readonly storage: string
  readonly rule: 'create' | 'change' | 'remove'
  /** Where the guid of its document comes from: a parameter of the page, or the button or row. Undefined: known in the run only. */
  readonly guid: { readonly parameter: string } | 'chosen' | undefined
}

export interface PageWrites {
  /** By the guid of each block with an event. Undefined where it may do something else, or does it as the application. */
  readonly of: ReadonlyMap<string, PageWrite | undefined>
  /** A form and little else: a visitor who may not send it has nothing to do there. */
  readonly isForm: boolean
}

/** What triggers of the kind `page` become. */
export interface CompiledPage {
  readonly block: string
  readonly listening: Listening['page']
  /** Any of them opens it; without any it is public. */
  readonly scopes: readonly string[]
  readonly flow: CompiledFlow
  readonly writes: PageWrites
  readonly start: (request: RunRequest) => Readonly<Record<string, unknown>>
}

/** What triggers of the kind `http` become. */
export interface CompiledEndpoint {
  readonly block: string
  readonly listening: Listening['http']
  /** Any of them opens it; without any it is public. */
  readonly scopes: readonly string[]
  /** Whether a block of the blueprint needs the body as it was sent. */
  readonly keepsRawBody: boolean
  /** Names of the parameters that its blocks ask the request for. */
  readonly fields: readonly string[]
  /** What its reply blocks send, as far as it is known before a run. */
  readonly replies: RepliesBy
  /** How it may end instead, with an error's reply: ways of its blocks that are not wired. */
  readonly misses: readonly UnhandledOutcome[]
  /** Whether a block of its flow replies with a stream of events. */
  readonly subscribes: boolean
  /** Whether it is certain that its reply does not depend on who asks. */
  readonly callerIndependent: boolean
  readonly flow: CompiledFlow
  /** A flow whose result is the key of a request, or empty; undefined where the trigger calculates none. */
  readonly key: CompiledFlow | undefined
  readonly start: (request: RunRequest) => Readonly<Record<string, unknown>>
}
