import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type {
  FunctionContext,
  FunctionDeclaration,
  ObjectResult,
  Parameter,
  ParameterType,
} from '../language/function-declaration.ts'

/** What an arrow function gives; undefined is nothing, as null is. */
export type ArrowValue = JsonValue | undefined
export type Arrow = (item: JsonValue, index: number) => ArrowValue
type Reducer = (reduced: ArrowValue, item: JsonValue, index: number) => ArrowValue

/** The type of an argument in a body, from the type of its parameter. */
type ArgumentOf<T> = T extends readonly ParameterType[]
  ? ArgumentOf<T[number]>
  : T extends { readonly kind: 'text' }
    ? string
    : T extends { readonly kind: 'number' | 'whole' }
      ? number
      : T extends { readonly kind: 'condition' }
        ? boolean
        : T extends { readonly kind: 'list' | 'items' }
          ? readonly JsonValue[]
          : T extends { readonly kind: 'object' }
            ? JsonObject
            : T extends { readonly kind: 'arrow'; readonly takes: 'reduced' }
              ? Reducer
              : T extends { readonly kind: 'arrow' }
                ? Arrow
                : JsonValue

type ValueOf<P extends Parameter> = P extends { readonly takesNothing: true }
  ? ArgumentOf<P['type']> | undefined
  : ArgumentOf<P['type']>

type ArgumentsOf<P extends readonly Parameter[]> = P extends readonly [
  infer First extends Parameter,
  ...infer Others extends readonly Parameter[],
]
  ? First extends { readonly rest: true }
    ? ValueOf<First>[]
    : First extends { readonly optional: true }
      ? [given?: ValueOf<First> | undefined, ...others: ArgumentsOf<Others>]
      : [given: ValueOf<First>, ...others: ArgumentsOf<Others>]
  : []

/** What a body gives; undefined is nothing. */
type ResultOf<G extends FunctionDeclaration['gives']> = G extends 'items' | 'arrows'
  ? readonly JsonValue[]
  : G extends ObjectResult
    ? JsonObject | undefined
    : G extends string
      ? JsonValue | undefined
      : ArgumentOf<G> | undefined

/** A body for each declaration, its parameters and its result typed by it: TypeScript finds one that is missing or too many. */
export type BodiesOf<D extends readonly FunctionDeclaration[]> = {
  readonly [F in D[number] as F['name']]: (
    context: FunctionContext,
    ...input: ArgumentsOf<F['parameters']>
  ) => ResultOf<F['gives']>
}

interface Receivers {
  readonly text: string
  readonly list: readonly JsonValue[]
  readonly number: number
}

/** As {@link BodiesOf}, for methods: the text, list or number comes first. */
export type MethodBodiesOf<On extends keyof Receivers, D extends readonly FunctionDeclaration[]> = {
  readonly [F in D[number] as F['name']]: (
    context: FunctionContext,
    self: Receivers[On],
    ...input: ArgumentsOf<F['parameters']>
  ) => ResultOf<F['gives']>
}
