import type { FieldOperator } from '../../../shared/query.ts'
import type { Expression } from '../expression.ts'

/**
 * What a `where` asks of a document, as a tree. Negations are at its leaves, and a leaf that compares with a value of the run
 * holds for no document when that value is nothing, negated or not: so does `!(a && b)`, which is `!a || !b` here.
 */
export type WhereCondition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly WhereCondition[] }
  | WhereLeaf

/** `caseless`: of `lower(doc.field)`, whatever the case of the letters is on both sides. */
export type WhereLeaf = { readonly negated: boolean } & (
  | /** Does not depend on the document. */ { readonly kind: 'run'; readonly part: Expression }
  | {
      readonly kind: 'compared'
      readonly field: string
      readonly operator: Comparison
      readonly value: Operand
      readonly caseless?: true
    }
  | {
      readonly kind: 'fields'
      readonly field: string
      readonly operator: FieldOperator
      readonly other: string
    }
  | {
      readonly kind: 'contains' | 'startsWith'
      readonly field: string
      readonly value: Operand
      readonly caseless?: true
    }
  | /** A list of the run that contains the field. */ {
      readonly kind: 'among'
      readonly field: string
      readonly value: Operand
      readonly caseless?: true
    }
  | { readonly kind: 'missing' | 'empty'; readonly field: string }
  | { readonly kind: 'search'; readonly fields: readonly string[]; readonly value: Operand }
  | /** Holds for no document. */ { readonly kind: 'never' }
)

export type Comparison = FieldOperator | '>' | '>='

/** A value of the run. `maybe`: when it is empty, what it is compared with is not asked. */
export interface Operand {
  readonly part: Expression
  readonly maybe: boolean
}
