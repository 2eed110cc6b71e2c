/** Types for blocks of extensions: docs/extensions.md. */

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json | undefined }
export type JsonObject = { readonly [name: string]: Json | undefined }

/** What a pin of the type `http_connection` gives: to be handed to `call`. */
export interface Connection {
  readonly connection: string
}

/** A stored document. */
export type StoredDocument = JsonObject & { readonly _meta: JsonObject & { readonly guid: string } }

interface Values {
  value: string
  line: string
  number: number
  condition: boolean
  object: JsonObject
  array: readonly Json[]
  date: Date
  document: StoredDocument
  documents: readonly StoredDocument[]
  user: JsonObject
  file: JsonObject
  any: Json
  http_connection: Connection
}

export interface InPin {
  readonly type: keyof Values
  /** One sentence for the builder. */
  readonly help: string
  readonly required?: true
  /** Takes several wires: the block gets a list. */
  readonly several?: true
  readonly integer?: true
  readonly default?: string | number | boolean
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly string[]
}

export interface OutPin {
  /** `flow`: a way on which the flow continues, named by `next` of what `run` gives. */
  readonly type: 'flow' | Exclude<keyof Values, 'date' | 'user' | 'file' | 'http_connection'>
  readonly help: string
}

export type Setting = { readonly help: string } & (
  | { readonly kind: 'text'; readonly required?: true; readonly lines?: true; readonly default?: string }
  | {
      readonly kind: 'number'
      readonly required?: true
      readonly default?: number
      readonly min?: number
      readonly max?: number
    }
  | { readonly kind: 'switch'; readonly default?: boolean }
  | {
      readonly kind: 'choice'
      readonly required?: true
      readonly options: readonly string[]
      readonly default?: string
    }
)

type SettingValue<S extends Setting> = S extends { kind: 'number' }
  ? number
  : S extends { kind: 'switch' }
    ? boolean
    : string

type Named<T> = Readonly<Record<string, T>>
type Inputs<In extends Named<InPin>> = {
  readonly [K in keyof In]: In[K] extends { several: true }
    ? readonly Values[In[K]['type']][]
    : In[K] extends { required: true } | { default: string | number | boolean }
      ? Values[In[K]['type']]
      : Values[In[K]['type']] | undefined
}
type SettingValues<S extends Named<Setting>> = {
  readonly [K in keyof S]: S[K] extends { required: true } | { default: string | number | boolean }
    ? SettingValue<S[K]>
    : SettingValue<S[K]> | undefined
}
type Ways<Out extends Named<OutPin>> = {
  [K in keyof Out]: Out[K] extends { type: 'flow' } ? K : never
}[keyof Out]
type Outputs<Out extends Named<OutPin>> = {
  readonly [K in Exclude<keyof Out, Ways<Out>>]?: Json | undefined
} & { readonly next?: Ways<Out> | 'flow' | null }

export interface Request {
  /** GET if it is not given. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base address of the connection. */
  readonly path?: string
  readonly query?: JsonObject
  readonly headers?: JsonObject
  readonly body?: Json
  /** Seconds; 10 if not given. */
  readonly timeout?: number
}

export interface Reply {
  /** Any: a status outside of 200 to 299 is a reply, and so is a redirect. */
  readonly status: number
  readonly headers: JsonObject
  readonly body: Json
}

export interface Search {
  /** By field: a value, a list of values, or bounds. */
  readonly where?: Named<Json>
  /** Fields, with - in front for the other order: ["-price", "name"]. */
  readonly sort?: readonly string[]
  /** 20 if not given, at most 100. */
  readonly limit?: number
  readonly after?: string
}

/** What a block may ask for. Each rejects with an Error that says why. */
export interface Host<S extends Named<Setting>> {
  readonly settings: SettingValues<S>
  call(connection: Connection | undefined, request?: Request): Promise<Reply>
  readonly documents: {
    get(storage: string, guid: string): Promise<StoredDocument | undefined>
    search(storage: string, search?: Search): Promise<readonly StoredDocument[]>
    create(storage: string, fields: JsonObject): Promise<StoredDocument>
    /** Without a document there is nothing. */
    update(storage: string, guid: string, fields: JsonObject): Promise<StoredDocument | undefined>
    /** Whether there was one. It can be restored. */
    remove(storage: string, guid: string): Promise<boolean>
  }
  /** Into the system log, behind the run. */
  log(value: Json): void
}

/** A block on which a flow runs. Quoin adds the flow pins `flow` and `error`. */
export interface FlowBlock<In extends Named<InPin>, Out extends Named<OutPin>, S extends Named<Setting>> {
  /** The name of the file, which begins with that of the extension. Never changes. */
  readonly identifier: string
  readonly title: string
  /** The title of one such block on the canvas: `Greet {name}`. */
  readonly words?: string
  readonly summary: string
  readonly in: In
  readonly out: Out
  readonly settings?: S
  /** What it asks for. Without any it gives the same for the same inputs, and replies behind it may be cached. */
  readonly effects?: {
    readonly reads?: true
    readonly writes?: 'creates' | 'changes' | 'removes'
    readonly calls?: true
  }
  run(inputs: Inputs<In>, host: Host<S>): Outputs<Out> | undefined | Promise<Outputs<Out> | undefined>
}

export function defineFlow<
  const In extends Named<InPin>,
  const Out extends Named<OutPin>,
  const S extends Named<Setting> = Record<never, never>,
>(block: FlowBlock<In, Out, S>): FlowBlock<In, Out, S>
