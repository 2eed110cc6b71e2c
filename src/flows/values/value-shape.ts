import type { FieldsOf } from '../../shared/field-rule.ts'

/** What is known of a value before a run: enough to describe a reply, not to check one. */
export type ValueShape =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'scalar'; readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  /** The value of a field of stored documents, by its dotted name. */
  | { readonly kind: 'field'; readonly storage: string; readonly name: string }
  | { readonly kind: 'list'; readonly items: ValueShape }
  | {
      readonly kind: 'object'
      readonly fields: Readonly<Record<string, ValueShape>>
      /** It is, or began as, a document of this storage; `fields` are what was put on top. */
      readonly storage: string | undefined
      /** References that may be followed in it, under `_expand`. */
      readonly expand?: readonly string[]
      /** Fields of the document that it is without. */
      readonly without?: readonly string[]
      /** Whether it may have other fields, too. */
      readonly open: boolean
    }

/** With the fields that storages have now, which change without a deploy. */
export type RepliesBy = (fieldsOf: FieldsOf) => readonly EndpointReply[]

export interface EndpointReply {
  /** undefined where a run decides. */
  readonly code: number | undefined
  readonly value: ValueShape
  /** Content type; JSON if not said. */
  readonly type?: string
}
