/**
 * A block is one file that exports one of these three as default:
 *
 * - defineValue: no flow pins. Evaluated when a connected block needs it, once per run, never waits.
 * - defineFlow: runs when a flow signal arrives, may wait, says which flow out-pin goes on.
 * - defineTrigger: starts runs.
 *
 * The definition is data first and code last: the palette, property form, documentation, checks and types are drawn from
 * it. `group` is the folder, `identifier` the file name.
 */
import type { CustomOutPin } from '../shared/blueprint.ts'
import type { FailureEvent, ReportedFailure } from '../shared/failure.ts'
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Query, SortKey } from '../shared/query.ts'
import type { PlacedField } from '../shared/request-field.ts'
import type { JobRetries } from '../storage/job.ts'
import type { FlowContext, ValueContext } from './context.ts'
import type { DocumentEvent } from './document-event.ts'
import type { Effects } from './effects.ts'
import type { FlowPinIds, InPins, Inputs, OutPins, Outputs } from './pin.ts'
import type { RunRequest } from './run-request.ts'
import type { Settings, SettingValues } from './setting.ts'

interface Described {
  /** The string in every saved blueprint. Never changes. */
  readonly identifier: string
  /** Other identifiers under which it is accepted. */
  readonly aliases?: readonly string[]
  readonly title: string
  /**
   * What one such block does, from its own pins and settings: `Search {storage}[ where {where|query}]`. `{a|b}` is the first
   * of them that has a value; what stands in `[…]` is left out where it has none. Without it the canvas lists its values.
   */
  readonly words?: string
  /** What it does, in one or two sentences for the builder. */
  readonly summary: string
}

interface Pinned<In extends InPins, Out extends OutPins, S extends Settings> extends Described {
  readonly in: In
  readonly out: Out
  readonly settings: S
  /** In-pins that the settings add. */
  moreIn?(settings: SettingValues<S>): InPins
  /**
   * Searches that are made of its storage beside what its `query` and `sort` pins say, for the indexes they need. Inputs
   * may be samples, or missing.
   */
  searches?(inputs: Partial<Inputs<In>>): ChosenSearches
  /**
   * Looks at the pins that hold the same in every run, when the blueprint is deployed: what a run decides is missing.
   * Throws PinError for what no run could use; the blueprint is then refused.
   */
  check?(inputs: Partial<Inputs<In>>, settings: SettingValues<S>): void
  /** The columns of the rows that the out-pin `rows` gives. Throws where the inputs do not fit. */
  columns?(inputs: Partial<Inputs<In>>): readonly RowColumn[]
  /** In-pins of the type `any` that take a text with these settings: a deploy warns of a list there. */
  takesText?(settings: SettingValues<S>): readonly string[]
  /** Out-pins that the settings, or the builder, add. */
  moreOut?(settings: SettingValues<S>, custom: readonly CustomOutPin[]): OutPins
}

export interface RowColumn {
  readonly name: string
  /** `field`: what the field of a document holds. */
  readonly type: 'field' | 'number' | 'whole' | 'any'
  readonly field?: string
}

/** Fields that visitors of a page may search by. */
interface ChosenSearches {
  readonly sorts: readonly SortKey[]
  /** Filters, one at a time; only their fields count. */
  readonly filters: readonly Query[]
  readonly text: boolean
  /** Fields that are read in this order for each document that matches: an index that holds all of them serves. */
  readonly read?: readonly string[]
}

/** Outputs by pin id, once the pins' types are no longer known. */
type PinValues = Readonly<Record<string, unknown>>

interface ValueSpec<In extends InPins, Out extends OutPins, S extends Settings> extends Pinned<In, Out, S> {
  /** Looks at the request or the clock, so it is not folded into a constant when the blueprint is compiled. */
  readonly readsRun?: true
  /** All that it looks at of the run is the address of its request, path and query, and values of the environment. */
  readonly readsAddress?: true
  /** All that it looks at of the run is the clock. */
  readonly readsClock?: true
  /** Reads variables of the run: what it gave is forgotten when a block that may set one has run. */
  readonly readsVariables?: true
  /** Its values come from the client: an invalid one is then 400, not 500. */
  readonly fromRequest?: true
  /** Pins that `moreOut` adds are given beside the declared ones. */
  value(inputs: Inputs<In>, context: ValueContext<S>): Outputs<Out> | (Outputs<Out> & PinValues)
}

/** The values given, and which flow out-pin goes on: `flow` if not said, none if null. */
export type FlowResult<Out extends OutPins> =
  | (Outputs<Out> & { readonly next?: FlowPinIds<Out> | 'flow' | null })
  | undefined

/** What a flow block has beside pins and code, by the names of its in-pins, out-pins and settings. Effects: `effects.ts`. */
interface FlowTraits<In extends string, Out extends string, Setting extends string> {
  /** What it does beside giving values. Absent: nothing that commits, deploys, caches or replays have to know of. */
  readonly effects?: Effects<In>
  /** Scopes that a user must hold to put it live: it does for every caller what they allow. */
  readonly deployScopes?: readonly string[]
  /** Setting with names of authentication groups that it gives: who puts it live must hold each scope of these too. */
  readonly givesGroups?: Setting
  /** Out-pins that need the address of the site: a deploy warns where it is not set and one of them is read. */
  readonly publicAddresses?: readonly Out[]
  /** Replies with a stream of events. */
  readonly subscribes?: true
  /** Flow out-pin whose flow is run again and again. */
  readonly body?: Out
  /** Needs the body of the request as it was sent: endpoints of its blueprint keep it until the run ends. */
  readonly readsRawBody?: true
  /** Runs once each wired flow in-pin was reached, and then waits for all of them again. */
  readonly joins?: true
  /** Stores the run (`FlowContext.wait`), to go on later at these flow out-pins. */
  readonly waits?: readonly Out[]
  /** Waits for documents of the storage at its pin `storage`: writes to the storages of its blueprint look for such waits. */
  readonly awaitsDocuments?: true
}

interface FlowSpec<In extends InPins, Out extends OutPins, S extends Settings>
  extends Pinned<In, Out, S>,
    FlowTraits<keyof In & string, (keyof Out & string) | 'flow', keyof S & string> {
  /** Has no flow out-pin `flow`, such as `branch`. */
  readonly ends?: true
  run(inputs: Inputs<In>, context: FlowContext<S>): MaybePromise<FlowResult<Out>>
}

/** `text` takes `text/*` and XML as text, `xml` takes XML as a value; elements named in `lists` are always lists. */
export type AcceptedBody =
  | { readonly kind: 'text' }
  | { readonly kind: 'xml'; readonly lists: ReadonlySet<string> }
  /** Forms with files: so many, of so many bytes each. */
  | { readonly kind: 'multipart'; readonly files: number; readonly fileBytes: number }

/** What a trigger listens for, worked out when the blueprint is deployed. */
export interface Listening {
  http: {
    /** `ANY`: each method that no other endpoint has at this URI. */
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY'
    /** Without the leading slash; parameters as `{name}`, `:name` or `{name...}`. */
    readonly uri: string
    /** Requests a second per address; undefined = the cluster's. */
    readonly rateLimit: number | undefined
    /** Seconds that a client may keep the reply; 0 = must ask. */
    readonly cacheSeconds: number
    /** Bodies beside JSON and forms. */
    readonly accepts?: AcceptedBody
    /** Replays the stored reply for a repeated `idempotency-key`. */
    readonly idempotent: boolean
    /** The pin `idempotency_key` gives the key, evaluated for each request. */
    readonly calculatesKey?: true
    /** The pin `one_at_a_time` gives a key, evaluated for each request. */
    readonly oneAtATime?: true
    readonly summary: string
    readonly description: string
    /** Fields that are checked before the flow starts, each with its place. */
    readonly schema?: readonly PlacedField[]
    /** The storage whose field rules the body is checked by before the flow starts. */
    readonly schemaStorage?: string
    /** Its name among the tools of `/mcp`. */
    readonly tool?: string
  }
  page: {
    /** Without the leading slash; parameters as for `http`. Empty: the start page. */
    readonly uri: string
    readonly title: string
    /** BCP 47: what it is written in. */
    readonly language?: string
    /** Requests a second per address; undefined = the cluster's. */
    readonly rateLimit: number | undefined
  }
  function: {
    readonly name: string
    readonly description: string
    readonly parameters: readonly CustomOutPin[]
    /** Its name among the tools of `/mcp`. */
    readonly tool?: string
  }
  storage: {
    readonly storage: string
    readonly events: readonly DocumentEvent[]
    readonly retries?: JobRetries | undefined
  }
  /** One of `cron`, `every` and `asksNextRun`. */
  schedule: {
    readonly cron: string | undefined
    /** A number and its unit: s, m, h or d. */
    readonly every: string | undefined
    /** The pin `next_run` gives the time, evaluated after each run. */
    readonly asksNextRun: boolean
    readonly startAt: Date | undefined
    /** IANA. */
    readonly timeZone: string
    readonly overlap: 'skip' | 'queue' | 'allow'
    readonly catchUp: 'last' | 'all' | 'none'
    readonly retries?: JobRetries | undefined
  }
  /** `cluster`: of all blueprints, not only of its own. */
  failure: {
    readonly events: readonly FailureEvent[]
    readonly cluster: boolean
    readonly retries?: JobRetries | undefined
  }
}

/** What happened, as the trigger's `start` gets it. */
export interface Happening {
  http: { readonly request: RunRequest }
  page: { readonly request: RunRequest }
  /** Each parameter as its pin promises it. */
  function: { readonly parameters: Readonly<Record<string, unknown>> }
  storage: {
    readonly event: DocumentEvent
    /** undefined only when it was too large to be kept and is gone by now. */
    readonly document: JsonObject | undefined
    readonly previous: JsonObject | undefined
    readonly fieldsModified: readonly string[]
    readonly revisions: readonly JsonObject[]
    /** Guid of the job, the same in each attempt. */
    readonly job: string
  }
  schedule: { readonly plannedAt: Date; readonly tick: string }
  failure: ReportedFailure
}

export type Listens = keyof Listening

interface TriggerSpec<On extends Listens, In extends InPins, Out extends OutPins, S extends Settings>
  extends Pinned<In, Out, S> {
  readonly on: On
  /** In-pins that may depend on a run, because they are asked for again and again. `listen` gets a sample. */
  readonly evaluatedLater?: readonly (keyof In & string)[]
  /** Has no flow out-pin `flow`. */
  readonly ends?: true
  /** Scopes that a user must hold to put it live. */
  deployScopes?(settings: SettingValues<S>): readonly string[]
  /** The other inputs are constants here: nothing runs yet. Throws PinError for what cannot be. */
  listen(inputs: Inputs<In>, settings: SettingValues<S>, custom: readonly CustomOutPin[]): Listening[On]
  start(happening: Happening[On]): Outputs<Out> | (Outputs<Out> & PinValues)
}

/** A block whose pins are no longer known by type: what the compiler, the palette and the docs work with. */
interface Erased extends Omit<Pinned<InPins, OutPins, Settings>, 'searches' | 'check' | 'columns'> {
  searches?(inputs: PinValues): ChosenSearches
  columns?(inputs: PinValues): readonly RowColumn[]
  check?(inputs: PinValues, settings: SettingValues<Settings>): void
}

export interface ValueBlock extends Erased {
  readonly kind: 'value'
  readonly readsRun?: true
  readonly readsAddress?: true
  readonly readsClock?: true
  readonly readsVariables?: true
  readonly fromRequest?: true
  value(inputs: PinValues, context: ValueContext): PinValues
}

export interface FlowBlock extends Erased, FlowTraits<string, string, string> {
  readonly kind: 'flow'
  run(inputs: PinValues, context: FlowContext): MaybePromise<PinValues | undefined>
}

export type TriggerBlock = { [On in Listens]: TriggerOf<On> }[Listens]

interface TriggerOf<On extends Listens> extends Erased {
  readonly kind: 'trigger'
  readonly on: On
  readonly evaluatedLater?: readonly string[]
  deployScopes?(settings: SettingValues<Settings>): readonly string[]
  listen(inputs: PinValues, settings: SettingValues<Settings>, custom: readonly CustomOutPin[]): Listening[On]
  start(happening: Happening[On]): PinValues
}

export type BlockDefinition = ValueBlock | FlowBlock | TriggerBlock

/** A pin got a value that the block cannot use. 400 if the value came with the request, else 500; at deploy 422. */
export class PinError extends Error {
  readonly pin: string

  /** `message` finishes the sentence "<pin> …", for example "must be from 0 to 10,000". */
  constructor(pin: string, message: string) {
    super(message)
    this.name = 'PinError'
    this.pin = pin
  }
}

/** What a pin names is not there: 404 instead of 400 if the value came with the request. */
export class MissingError extends PinError {}

/**
 * A text does not fit the one line that it is for: a subject, an address, a header, a file name. 400 wherever the run has it from,
 * because line breaks come with what clients have sent.
 */
export class LineError extends PinError {}

/** A deploy would refuse what the pin asks for: fields have changed since, or an older version has let it pass. */
export class OutdatedPin extends PinError {}

const flowIn: InPins = { flow: { type: 'flow', help: 'Runs the block.' } }
const flowOut: OutPins = { flow: { type: 'flow', help: 'Goes on when the block is done.' } }
const errorOut: OutPins = {
  error: {
    type: 'flow',
    carries: 'object',
    help: 'Taken when the block fails; also gives what went wrong: code, message, block. Not wired: the run fails.',
  },
}

// Each has one overload that the authors of blocks see, with every pin typed, over a signature in which the pins are
// erased. This is the only place where the types of pins are let go; the compiler's converters keep what they promise.

export function defineValue<const In extends InPins, const Out extends OutPins, const S extends Settings>(
  block: ValueSpec<In, Out, S>,
): ValueBlock
export function defineValue(block: Omit<ValueBlock, 'kind'>): ValueBlock {
  return { ...block, kind: 'value' }
}

/** Adds the flow in-pin `flow`, the flow out-pin `flow` (unless `ends`) and `error`. */
export function defineFlow<const In extends InPins, const Out extends OutPins, const S extends Settings>(
  block: FlowSpec<In, Out, S>,
): FlowBlock
export function defineFlow(block: Omit<FlowBlock, 'kind'> & { readonly ends?: true }): FlowBlock {
  const { ends, ...rest } = block
  const out = { ...(ends ? {} : flowOut), ...block.out, ...errorOut }
  return { ...rest, kind: 'flow', in: { ...flowIn, ...block.in }, out }
}

/** Adds the flow out-pin `flow`, unless `ends`. */
export function defineTrigger<
  const On extends Listens,
  const In extends InPins,
  const Out extends OutPins,
  const S extends Settings,
>(block: TriggerSpec<On, In, Out, S>): TriggerOf<On>
export function defineTrigger(
  block: Omit<TriggerOf<Listens>, 'kind'> & { readonly ends?: true },
): TriggerOf<Listens> {
  const { ends, ...rest } = block
  return { ...rest, kind: 'trigger', out: { ...(ends ? {} : flowOut), ...block.out } }
}
