import type { JsonObject, JsonValue } from '../shared/json.ts'

/** A choice the builder makes on the block itself, in its `fields`; never wired. Drawn as a form from this data. */
export type Setting = {
  readonly help: string
  readonly required?: true
} /** `lines`: it may have several. */ & (
  | { readonly kind: 'text'; readonly default?: string; readonly lines?: true }
  /** A storage's name. */
  | { readonly kind: 'storage' }
  | { readonly kind: 'number'; readonly default?: number; readonly min?: number; readonly max?: number }
  | { readonly kind: 'switch'; readonly default?: boolean }
  | { readonly kind: 'choice'; readonly options: readonly string[]; readonly default?: string }
  /** A list of names: of fields, of parameters. */
  | { readonly kind: 'names' }
  /** Fields of a request: see `shared/request-field.ts`. */
  | { readonly kind: 'fields' }
  /** An operation of a foreign API: see `shared/operations/operation.ts`. */
  | { readonly kind: 'operation' }
)

export type Settings = Readonly<Record<string, Setting>>

interface Kinds {
  text: string
  storage: string
  number: number
  switch: boolean
  choice: string
  names: readonly string[]
  fields: readonly JsonValue[]
  operation: JsonObject
}

type Present = { required: true } | { default: string | number | boolean } | { kind: 'names' | 'fields' }

/** The settings as a block's code sees them: checked, with defaults; a list of names that is not set is empty. */
export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Present ? Kinds[S[K]['kind']] : Kinds[S[K]['kind']] | undefined
}
