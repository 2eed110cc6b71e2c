/** What is known of a value before a run: enough to describe a reply, not to check one. */
export type ValueShape =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'scalar'; readonly type: 'string' | 'number' | 'boolean' | 'null' }
  | { readonly kind: 'list'; readonly items: ValueShape }
  | {
      readonly kind: 'object'
      readonly fields: Readonly<Record<string, ValueShape>>
      /** It is, or began as, a document of this storage; `fields` are what was put on top. */
      readonly storage: string | undefined
      /** References that may be followed in it, under `_expand`. */
      readonly expand?: readonly string[]
      /** Whether it may have other fields, too. */
      readonly open: boolean
    }

export interface EndpointReply {
  /** undefined where a run decides. */
  readonly code: number | undefined
  readonly value: ValueShape
  /** Content type; JSON if not said. */
  readonly type?: string
}
