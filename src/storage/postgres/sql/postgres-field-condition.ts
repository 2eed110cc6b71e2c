/** Conditions that no index serves: a field compared with another one, what a field contains, and whether it is empty. */
import type { Query } from '../../../shared/query.ts'
import { soughtCaseless } from '../../../shared/texts/caseless-text.ts'
import { composedText } from '../../../shared/texts/composed-text.ts'
import {
  beginningRange,
  foldedText,
  OTHER_LETTER,
  type SoughtText,
  soughtText,
} from '../../../shared/texts/folded-text.ts'
import { MOST_PLAIN } from '../../../shared/texts/text-order.ts'
import { sortedField } from '../../document-index.ts'
import { BLANKS, type CompiledSql, FALSE, joinWith, sql } from '../../search/compiled-sql.ts'
import { fieldSql, fullKeyOf, keyOf, sortedSql, texts, value } from './field-sql.ts'
import type { SearchPlan } from './search-plan.ts'

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
  value: requested,
}: Extract<Query, { kind: 'contains' }>): CompiledSql {
  const json = jsonOf(field)
  const item = sql`quoin_equals(${json}, '${typeof requested}', ${value(String(requested))})`
  const part =
    typeof requested === 'string' ? sql`strpos(${json} #>> '{}', ${value(requested)}) > 0` : sql`FALSE`
  return sql`(CASE json_typeof(${json}) WHEN 'array' THEN ${item} WHEN 'string' THEN ${part} ELSE FALSE END)`
}

export function caselessCondition({
  field,
  test,
  value: requested,
}: Extract<Query, { kind: 'caseless' }>): CompiledSql {
  const json = jsonOf(field)
  const [text, sought] = [`quoin_caseless(${json} #>> '{}')`, value(soughtCaseless(requested))]
  const tests = {
    equals: sql`${text} = ${sought}`,
    contains: sql`strpos(${text}, ${sought}) > 0`,
    startsWith: sql`strpos(${text}, ${sought}) = 1`,
    endsWith: sql`substr(${text}, length(${text}) - length(${sought}) + 1) = ${sought}`,
  }
  return sql`(CASE json_typeof(${json}) WHEN 'string' THEN ${tests[test]} ELSE FALSE END)`
}

export function emptyCondition(field: string): CompiledSql {
  const json = jsonOf(field)
  return sql`(CASE json_typeof(${json}) WHEN 'null' THEN TRUE WHEN 'string' THEN btrim(${json} #>> '{}', ${value(BLANKS)}) = '' WHEN 'array' THEN json_array_length(${json}) = 0 WHEN 'object' THEN NOT EXISTS (SELECT FROM json_object_keys(${json})) ELSE ${json} IS NULL END)`
}

// Texts that are the same for people, as a condition: see `sqlite-field-condition.ts`. The key of a text has an `s` in front.

type Folded = Extract<Query, { kind: 'folded' }>

export function foldedCondition({ plain, target }: SearchPlan, query: Folded): CompiledSql {
  const { field, folding } = query
  const found = fieldSql(field)
  if (found.kind === 'whole' || query.values.length === 0) return FALSE
  const json = found.kind === 'json' ? found.json : `to_json(${found.read})`
  const isPlain = plain.has(sortedField({ field, collation: folding.collation }))
  const key = isPlain ? keyOf(field, target.columns) : fullKeyOf(json)
  const read = { json, text: `(${json} #>> '{}')`, sorted: sortedSql(key, folding.collation) }
  if (query.test === 'equals' && query.values.length > MOST_RANGES) return oneOfMany(read, query)
  return joinWith(
    'OR',
    query.values.map((one) => testOf(read, query, soughtText(one, folding))),
  )
}

interface Read {
  readonly json: string
  readonly text: string
  readonly sorted: string
}

/** As `oneOfMany` in `sqlite-field-condition.ts`. */
const MOST_RANGES = 50

function oneOfMany({ json, text, sorted }: Read, { values, folding }: Folded): CompiledSql {
  const letters = `substr(${sorted}, 2, length(${sorted}) - length(${text}) - 1)`
  const rest = `quoin_caseless(${folding.ignoreAccents ? `substr(${text}, ${MOST_PLAIN + 1})` : text})`
  const keys = [...new Set(values.map((one) => foldedText(composedText(one), folding)))]
  return sql`(CASE json_typeof(${json}) WHEN 'string' THEN ${letters} || ${rest} = ANY (${texts(keys)}) ELSE FALSE END)`
}

function testOf({ json, text, sorted }: Read, { test, folding }: Folded, sought: SoughtText): CompiledSql {
  const { ignoreAccents } = folding
  const { plain, rest, beginnings } = sought
  const [inAnyCase, caseless] = [`quoin_caseless(${text})`, value(sought.caseless)]
  const ofText = (one: CompiledSql) =>
    sql`(CASE json_typeof(${json}) WHEN 'string' THEN ${one} ELSE FALSE END)`
  switch (test) {
    case 'equals': {
      const letters = sql`${sorted} >= ${value(`s${plain}\u0001`)} AND ${sorted} < ${value(`s${plain}\u0002`)}`
      if (!ignoreAccents) return sql`(${letters} AND ${ofText(sql`${inAnyCase} = ${caseless}`)})`
      const behind = `quoin_caseless(substr(${text}, ${MOST_PLAIN + 1}))`
      const exact = sql`${sorted} = (${value(`s${plain}\u0001`)} || ${text}) COLLATE "C" AND ${behind} = ${value(rest)}`
      return sql`(${letters} AND ${ofText(exact)})`
    }
    case 'contains': {
      const part = sql`strpos(${inAnyCase}, ${caseless}) > 0`
      if (!ignoreAccents || plain === '') return ofText(part)
      const letters = `substr(${sorted}, 2, length(${sorted}) - length(${text}) - 2)`
      return ofText(sql`(${part} OR strpos(${ownLetters(letters, plain)}, ${value(plain)}) > 0)`)
    }
    case 'startsWith': {
      const inCase = ofText(sql`strpos(${inAnyCase}, ${caseless}) = 1`)
      if (plain === '') return inCase
      const letters = joinWith(
        'OR',
        beginnings.map((beginning) => beginsWith(sorted, `s${beginning}`)),
      )
      return ignoreAccents ? letters : sql`(${letters} AND ${inCase})`
    }
  }
}

/** Without those that only begin another letter. */
function ownLetters(letters: string, plain: string): CompiledSql {
  return OTHER_LETTER.reduce(
    (left, mark) => sql`replace(${left}, ${value(plain + mark)}, ${value('\u0001')})`,
    sql`${letters}`,
  )
}

function beginsWith(sorted: string, beginning: string): CompiledSql {
  const { gte, lt, not } = beginningRange(beginning)
  const least = sql`${sorted} >= ${value(gte)}`
  const range = lt === undefined ? least : sql`${least} AND ${sorted} < ${value(lt)}`
  return sql`(${range} AND NOT (${sorted} >= ${value(not.gte)} AND ${sorted} < ${value(not.lt)}))`
}
