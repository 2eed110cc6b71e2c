/** Conditions that no index serves: a field compared with another one, what a field contains, and whether it is empty. */
import type { Query } from '../../../shared/query.ts'
import { soughtCaseless } from '../../../shared/texts/caseless-text.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { BLANKS } from '../../search/visible-text.ts'
import { value } from './compiled-sql.ts'
import { fieldSql, fullKeyOf } from './field-sql.ts'

/** A field as JSON, also where it is a column. */
function jsonOf(field: string): string {
  const read = fieldSql(field)
  return read.kind === 'json' ? read.json : `to_json(${read.read})`
}

/** Full keys of values of one type are equal and in order as the values are. */
export function fieldsCondition({ field, operator, other }: Extract<Query, { kind: 'fields' }>): CompiledSql {
  const [a, b] = [jsonOf(field), jsonOf(other)]
  const [typeOfA, typeOfB] = [`json_typeof(${a})`, `json_typeof(${b})`]
  const test = operator === '==' ? '=' : operator
  // As CASE for the reason that `byType` in postgres-condition.ts gives.
  const same = `(CASE WHEN ${typeOfA} = ${typeOfB} THEN ${fullKeyOf(a)} ${test} ${fullKeyOf(b)} ELSE FALSE END)`
  if (operator !== '==') return sql`${same}`
  return sql`(${same} OR (coalesce(${typeOfA}, 'null') = 'null' AND coalesce(${typeOfB}, 'null') = 'null'))`
}

export function containsCondition({
  field,
  value: wanted,
}: Extract<Query, { kind: 'contains' }>): CompiledSql {
  const json = jsonOf(field)
  const item = sql`quoin_equals(${json}, '${typeof wanted}', ${value(String(wanted))})`
  const part = typeof wanted === 'string' ? sql`strpos(${json} #>> '{}', ${value(wanted)}) > 0` : sql`FALSE`
  return sql`(CASE json_typeof(${json}) WHEN 'array' THEN ${item} WHEN 'string' THEN ${part} ELSE FALSE END)`
}

export function caselessCondition({
  field,
  test,
  value: wanted,
}: Extract<Query, { kind: 'caseless' }>): CompiledSql {
  const json = jsonOf(field)
  const [text, sought] = [`quoin_caseless(${json} #>> '{}')`, value(soughtCaseless(wanted))]
  const tests = {
    equals: sql`${text} = ${sought}`,
    contains: sql`strpos(${text}, ${sought}) > 0`,
    startsWith: sql`strpos(${text}, ${sought}) = 1`,
  }
  return sql`(CASE json_typeof(${json}) WHEN 'string' THEN ${tests[test]} ELSE FALSE END)`
}

export function emptyCondition(field: string): CompiledSql {
  const json = jsonOf(field)
  return sql`(CASE json_typeof(${json}) WHEN 'null' THEN TRUE WHEN 'string' THEN btrim(${json} #>> '{}', ${value(BLANKS)}) = '' WHEN 'array' THEN json_array_length(${json}) = 0 WHEN 'object' THEN NOT EXISTS (SELECT FROM json_object_keys(${json})) ELSE ${json} IS NULL END)`
}
