import { fieldNameProblem } from '../../../shared/field-path.ts'
import type { FieldOperator } from '../../../shared/query.ts'
import type { Expression, Place } from '../expression.ts'
import type { FunctionDeclaration } from '../function-declaration.ts'
import { anyType, conditionType, textType } from '../value-types.ts'

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

/** Functions that mean something in a `where` only. They are translated and have no body. */
export const whereFunctions: readonly FunctionDeclaration[] = [
  {
    name: 'maybe',
    parameters: [{ name: 'value', type: anyType, takesNothing: true }],
    gives: anyType,
    help: 'Leaves the comparison out when the value is empty: nothing, a text without a visible character, an empty list or object. Only in comparisons that `&&` joins with everything else.',
    example: 'doc.status == maybe(params.status)',
  },
  {
    name: 'search',
    parameters: [
      { name: 'field', type: anyType, takesNothing: true },
      { name: 'text', type: textType, takesNothing: true },
    ],
    gives: conditionType,
    help: 'Whether the field, or the whole document (`doc`), has the words of the text, best matches first; words as in the block "Free text". An empty text finds no document.',
    example: 'search(doc.title, params.q)',
  },
]

export type DocumentField =
  | { readonly path: string; readonly problem?: undefined }
  | { readonly path?: undefined; readonly problem: string; readonly at: Place }

export function isDocument(part: Expression): boolean {
  return part.kind === 'name' && part.name === 'doc' && !part.inBlocks
}

/** The field that a part reads: `doc.a.b`, `doc["a b"]`. Undefined when it is something else. */
export function documentField(part: Expression): DocumentField | undefined {
  const keys: { readonly key: string; readonly at: Place }[] = []
  let of = part
  while (of.kind === 'member' || of.kind === 'index') {
    if (of.kind === 'member') keys.unshift({ key: of.key, at: of })
    else if (of.key.kind === 'literal' && typeof of.key.value === 'string')
      keys.unshift({ key: of.key.value, at: of.key })
    else return undefined
    of = of.of
  }
  if (keys.length === 0 || !isDocument(of)) return undefined
  const dotted = keys.find(({ key }) => key.includes('.'))
  if (dotted) return { problem: 'A field whose name has a dot in it cannot be searched.', at: dotted.at }
  const length = keys.find(({ key }, index) => key === 'length' && index > 0)
  if (length)
    return {
      problem: 'The length of a field cannot be searched. Store it in a field of its own.',
      at: length.at,
    }
  const path = keys.map(({ key }) => key).join('.')
  const problem = fieldNameProblem(path)
  return problem === undefined
    ? { path }
    : { problem: `The field name ${JSON.stringify(path)} ${problem}.`, at: part }
}
