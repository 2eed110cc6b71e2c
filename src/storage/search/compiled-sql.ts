import type { Bounds } from '../../shared/query.ts'

/** A piece of SQL with the values of its holes, in order. What came from outside is only ever in the values. */
export interface CompiledSql {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

export type SqlValue = string | number | null

/** Puts pieces together: `sql` is a template tag whose holes are pieces, or texts that are part of the SQL. */
export function sql(texts: TemplateStringsArray, ...holes: readonly (CompiledSql | string)[]): CompiledSql {
  let text = texts[0] ?? ''
  let parameters: SqlValue[] | undefined
  // Each search makes some 50 of these: without closures, and without lists where nothing is in them.
  for (let index = 0; index < holes.length; index += 1) {
    const hole = holes[index] ?? ''
    if (typeof hole === 'string') text += hole
    else {
      text += hole.sql
      if (hole.parameters.length > 0) {
        parameters ??= []
        for (const parameter of hole.parameters) parameters.push(parameter)
      }
    }
    text += texts[index + 1] ?? ''
  }
  return { sql: text, parameters: parameters ?? NONE }
}

const NONE: readonly SqlValue[] = []

export const TRUE: CompiledSql = { sql: 'TRUE', parameters: [] }
export const FALSE: CompiledSql = { sql: 'FALSE', parameters: [] }

/** Joined as a balanced tree: a chain of 1,000 would be deeper than SQLite's parser goes. */
export function joinWith(operator: 'AND' | 'OR', parts: readonly CompiledSql[]): CompiledSql {
  const [first, second] = parts
  if (!first) return operator === 'AND' ? TRUE : FALSE
  if (!second) return first
  const middle = parts.length >> 1
  const left = joinWith(operator, parts.slice(0, middle))
  const right = joinWith(operator, parts.slice(middle))
  return sql`(${left} ${operator} ${right})`
}

/** What `trim()` takes from the ends of a text, so that both engines agree with it on which texts are empty. */
export const BLANKS =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

/** From these on, and before those: all of them hold. */
interface WholeBounds {
  readonly from: readonly number[]
  readonly before: readonly number[]
}

/**
 * Bounds on whole numbers as bounds that are whole themselves: at least 4.5 is from 5 on, at most 4.5 is before 5, more
 * than 4 is from 5 on. So bounds in seconds can be asked of a column of milliseconds, which has the index.
 */
export function wholeBounds({ gte, gt, lte, lt }: Bounds): WholeBounds {
  const from: number[] = []
  const before: number[] = []
  if (gte !== undefined) from.push(Math.ceil(Number(gte)))
  if (gt !== undefined) from.push(Math.floor(Number(gt)) + 1)
  if (lte !== undefined) before.push(Math.floor(Number(lte)) + 1)
  if (lt !== undefined) before.push(Math.ceil(Number(lt)))
  return { from, before }
}
