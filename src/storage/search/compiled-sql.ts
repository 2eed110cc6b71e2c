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
