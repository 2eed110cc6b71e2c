import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { PageContent } from '../shared/pages/page-content.ts'
import type { PinType } from '../shared/pin-type.ts'
import type { Query, SortKey } from '../shared/query.ts'
import type { RowParts } from '../shared/rows/row-part.ts'
import type { StoredJson } from '../storage/stored-json.ts'
import type { HttpConnection } from './http-connection.ts'
import type { RunRequest } from './run-request.ts'
import type { Secret } from './secret.ts'

/** A place where a value or a flow signal comes in. Plain data: the palette, the docs and the checks are drawn from it. */
export interface InPin {
  readonly type: PinType
  /** One sentence for the builder. */
  readonly help: string
  /** Must be wired or hold a literal; otherwise the blueprint does not check. */
  readonly required?: true
  /** Takes several wires; the block gets an array of what is not empty, in the order of the wires. */
  readonly several?: true
  /** Used when nothing is wired and no literal is set, or when what comes is empty. */
  readonly default?: string | number | boolean
  readonly min?: number
  readonly max?: number
  readonly integer?: true
  readonly choices?: readonly string[]
  /** Other words for the choices: the block takes them, and no list shows them. */
  readonly otherChoices?: readonly string[]
  /** Of a list: what each object in it may hold, for the studio, which shows them as rows. Other keys may be there too. */
  readonly rows?: RowParts
  /** Hand over stored JSON unparsed (as StoredJson), for blocks that only pass it on. */
  readonly raw?: true
  /** Of a pin that may stay empty when another one of the block, or one of several, holds something; one of them is needed. */
  readonly orPin?: string | readonly string[]
  /**
   * Its expression has words of its own. `set`: increment, append and unset. `where`: takes an expression only, a condition on
   * a document, `doc`; the block gets it as a query with the values of the run in it.
   */
  readonly language?: 'set' | 'where'
  /** Of a `where`: it cannot leave a comparison out, because a value that is missing would take in every document. */
  readonly maybe?: false
  /** Not pulled before the block runs: the block gets a function and pulls it once per frame, giving the frame's out-pins. */
  readonly perFrame?: true
}

export interface OutPin {
  readonly type: PinType
  readonly help: string
  /** Has a value only inside the frames of this block's `perFrame` pins. */
  readonly frame?: true
  /**
   * Of a value block: a flow pin from which the run goes on when a visitor of the page does something, or a value that is
   * there from then on.
   */
  readonly event?: true
  /** Of a trigger: its value follows from path and query alone, so that a reply can be kept for them. */
  readonly ofAddress?: true
  /** In-pin of the same block that its values are taken from, for blame: who sent that sent this. */
  readonly takenFrom?: string
  /** Setting with the operation whose replies it holds. */
  readonly repliesOf?: string
  /** A flow pin that also gives a value of this type, to value pins that are wired to it (`error`). */
  readonly carries?: 'object'
}

export type InPins = Readonly<Record<string, InPin>>
export type OutPins = Readonly<Record<string, OutPin>>

/** What a block gets for a pin of each type. Documents come parsed unless the pin is `raw`. Dates are Date objects. */
export interface PinValues {
  flow: never
  value: string
  line: string
  number: number
  condition: boolean
  object: JsonObject
  array: readonly JsonValue[]
  date: Date
  file: JsonObject
  document: JsonObject
  documents: readonly JsonValue[]
  /** The storage's name. */
  storage: string
  query: Query
  sort: SortKey
  mutations: readonly Mutation[]
  connection: RunRequest
  user: JsonObject
  state: PageContent
  /** The function's name. */
  function: string
  secret: Secret
  http_connection: HttpConnection
  any: JsonValue
}

/** What a block may give for a pin of each type: stored JSON may pass unparsed. */
export type PinInput<T extends PinType> = T extends 'document' | 'documents' | 'any' | 'object' | 'array'
  ? PinValues[T] | StoredJson
  : PinValues[T]

type Taken<P extends InPin> = P extends { raw: true }
  ? PinValues[P['type']] | StoredJson
  : PinValues[P['type']]

/** Pulls the pin once, with these values on the block's frame out-pins. */
export type PerFrame<T> = (frame: Readonly<Record<string, JsonValue | StoredJson>>) => T | undefined

type InputOf<P extends InPin> = P extends { perFrame: true }
  ? PerFrame<Taken<P>> | undefined
  : P extends { several: true }
    ? readonly Taken<P>[]
    : P extends { required: true } | { default: string | number | boolean }
      ? Taken<P>
      : Taken<P> | undefined

type ValuePinIds<P extends OutPins> = {
  [K in keyof P]: P[K] extends { type: 'flow' } | { frame: true } | { event: true } ? never : K
}[keyof P]

export type FlowPinIds<P extends OutPins> = {
  [K in keyof P]: P[K] extends { type: 'flow' } ? K : never
}[keyof P]

/** The inputs a block's code sees, by pin id. Flow pins are not among them. */
export type Inputs<P extends InPins> = {
  readonly [K in keyof P as P[K] extends { type: 'flow' } ? never : K]: InputOf<P[K]>
}

/** What a block's code may give, by pin id. What it leaves out is empty. */
export type Outputs<P extends OutPins> = {
  readonly [K in ValuePinIds<P>]?: PinInput<P[K]['type']> | undefined
}
