/** Conditions that no index serves: a field compared with another one, what a field contains, and whether it is empty. */
import type { Query } from '../../../shared/query.ts'
import { soughtCaseless } from '../../../shared/texts/caseless-text.ts'
import { type CompiledSql, FALSE, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { BLANKS } from '../../search/visible-text.ts'
import { ARRAY, OBJECT, STRING } from '../core/document-shape.ts'
import { fieldSql, jsonPath } from './field-sql.ts'
import type { SearchTarget } from './search-target.ts'
import { jsonValue, value } from './sql-values.ts'

const NUMBERS = `('integer', 'real')`
const BOOLEANS = `('true', 'false')`

/** Read from the document, also where a part of `_meta` is a column: the type has to be known. */
export function fieldsCondition({ field, operator, other }: Extract<Query, { kind: 'fields' }>): CompiledSql {
  const [a, b] = [jsonPath(field), jsonPath(other)]
  const [typeOfA, typeOfB] = [`json_type(doc, ${a})`, `json_type(doc, ${b})`]
  const test = operator === '==' ? '=' : operator
  const both = (types: string) => `${typeOfA} IN ${types} AND ${typeOfB} IN ${types}`
  const tests = [
    `(${both(`('text')`)} AND (doc ->> ${a}) ${test} (doc ->> ${b}))`,
    `(${both(NUMBERS)} AND (doc ->> ${a}) ${test} (doc ->> ${b}))`,
    // As texts, false comes before true.
    `(${both(BOOLEANS)} AND ${typeOfA} ${test} ${typeOfB})`,
  ]
  if (operator === '==')
    tests.push(`(coalesce(${typeOfA}, 'null') = 'null' AND coalesce(${typeOfB}, 'null') = 'null')`)
  return { sql: `(${tests.join(' OR ')})`, parameters: [] }
}

const jsonTypes = { string: `'text'`, number: `'integer', 'real'`, boolean: `'true', 'false'` }

export function containsCondition(
  target: SearchTarget,
  { field, value: wanted }: Extract<Query, { kind: 'contains' }>,
): CompiledSql {
  const { path, types, value: read } = fieldSql(target.shape, field)
  const tests: CompiledSql[] = []
  if (types & ARRAY) {
    const type = typeof wanted === 'string' ? 'string' : typeof wanted === 'number' ? 'number' : 'boolean'
    const item = type === 'string' ? value(String(wanted)) : jsonValue(wanted)
    tests.push(
      sql`(json_type(doc, ${path}) = 'array' AND EXISTS (SELECT 1 FROM json_each(doc, ${path}) WHERE type IN (${jsonTypes[type]}) AND value = ${item}))`,
    )
  }
  if (types & STRING && typeof wanted === 'string')
    tests.push(sql`(json_type(doc, ${path}) = 'text' AND instr(${read}, ${value(wanted)}) > 0)`)
  return tests.length === 0 ? FALSE : joinWith('OR', tests)
}

export function caselessCondition(
  target: SearchTarget,
  { field, test, value: wanted }: Extract<Query, { kind: 'caseless' }>,
): CompiledSql {
  const { path, types, value: read } = fieldSql(target.shape, field)
  if (!(types & STRING)) return FALSE
  const [text, sought] = [`quoin_caseless(${read})`, value(soughtCaseless(wanted))]
  const alike =
    test === 'equals'
      ? sql`${text} = ${sought}`
      : sql`instr(${text}, ${sought}) ${test === 'contains' ? '> 0' : '= 1'}`
  return sql`(json_type(doc, ${path}) = 'text' AND ${alike})`
}

export function emptyCondition(target: SearchTarget, field: string): CompiledSql {
  const { path, types, value: read } = fieldSql(target.shape, field)
  if (types === 0) return TRUE
  const type = `json_type(doc, ${path})`
  const tests: CompiledSql[] = [sql`${read} IS NULL`]
  if (types & STRING) tests.push(sql`(${type} = 'text' AND trim(${read}, ${value(BLANKS)}) = '')`)
  if (types & (ARRAY | OBJECT))
    tests.push(sql`(${type} IN ('array', 'object') AND NOT EXISTS (SELECT 1 FROM json_each(doc, ${path})))`)
  return joinWith('OR', tests)
}
