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
import { BLANKS, type CompiledSql, FALSE, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { ARRAY, OBJECT, STRING } from '../core/document-shape.ts'
import { fieldSql, jsonPath, sortedSql } from './field-sql.ts'
import { jsonValue, type SearchTarget, value } from './sql-values.ts'

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
  { field, value: requested }: Extract<Query, { kind: 'contains' }>,
): CompiledSql {
  const { path, types, value: read } = fieldSql(target.shape, field)
  const tests: CompiledSql[] = []
  if (types & ARRAY) {
    const type =
      typeof requested === 'string' ? 'string' : typeof requested === 'number' ? 'number' : 'boolean'
    const item = type === 'string' ? value(String(requested)) : jsonValue(requested)
    tests.push(
      sql`(json_type(doc, ${path}) = 'array' AND EXISTS (SELECT 1 FROM json_each(doc, ${path}) WHERE type IN (${jsonTypes[type]}) AND value = ${item}))`,
    )
  }
  if (types & STRING && typeof requested === 'string')
    tests.push(sql`(json_type(doc, ${path}) = 'text' AND instr(${read}, ${value(requested)}) > 0)`)
  return tests.length === 0 ? FALSE : joinWith('OR', tests)
}

export function caselessCondition(
  target: SearchTarget,
  { field, test, value: requested }: Extract<Query, { kind: 'caseless' }>,
): CompiledSql {
  const { path, types, value: read } = fieldSql(target.shape, field)
  if (!(types & STRING)) return FALSE
  const [text, sought] = [`quoin_caseless(${read})`, value(soughtCaseless(requested))]
  const tests = {
    equals: sql`${text} = ${sought}`,
    contains: sql`instr(${text}, ${sought}) > 0`,
    startsWith: sql`instr(${text}, ${sought}) = 1`,
    // Of nothing, substr would give all.
    endsWith: sql`substr(${text} || 'x', -1 - length(${sought}), length(${sought})) = ${sought}`,
  }
  return sql`(json_type(doc, ${path}) = 'text' AND ${tests[test]})`
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

// Texts that are the same for people, as a condition. What sorts as the value does is the plain letters, U+0001 and the text itself, so that the
// index by which lists are ordered finds texts by their letters, and the text tells where these end.

type Folded = Extract<Query, { kind: 'folded' }>

export function foldedCondition(target: SearchTarget, query: Folded): CompiledSql {
  const { path, types, value: stored } = fieldSql(target.shape, query.field)
  if (!(types & STRING)) return FALSE
  const read = `(${stored})`
  // As the index has it.
  const sorted = sortedSql(stored, query.folding.collation)
  const found = { read, sorted }
  const tests =
    query.test === 'equals' && query.values.length > MOST_RANGES
      ? [oneOfMany(found, query)]
      : query.values.map((one) => testOf(found, query, soughtText(one, query.folding)))
  if (tests.length === 0) return FALSE
  // First, because the functions take no numbers.
  return sql`(json_type(doc, ${path}) = 'text' AND ${joinWith('OR', tests)})`
}

interface Read {
  readonly read: string
  readonly sorted: string
}

/** Of more texts each document is compared with all of them at once: as ranges of an index they would be more than a statement may hold. */
const MOST_RANGES = 50

function oneOfMany({ read, sorted }: Read, { values, folding }: Folded): CompiledSql {
  const letters = `substr(${sorted}, 1, length(${sorted}) - length(${read}))`
  const rest = `quoin_caseless(${folding.ignoreAccents ? `substr(${read}, ${MOST_PLAIN + 1})` : read})`
  const keys = [...new Set(values.map((one) => foldedText(composedText(one), folding)))]
  return sql`${letters} || ${rest} IN (SELECT value FROM json_each(${value(JSON.stringify(keys))}))`
}

function testOf({ read, sorted }: Read, { test, folding }: Folded, sought: SoughtText): CompiledSql {
  const { ignoreAccents } = folding
  const { plain, rest, beginnings } = sought
  const [inAnyCase, caseless] = [`quoin_caseless(${read})`, value(sought.caseless)]
  switch (test) {
    case 'equals': {
      const letters = sql`${sorted} >= ${value(`${plain}\u0001`)} AND ${sorted} < ${value(`${plain}\u0002`)}`
      if (!ignoreAccents) return sql`(${letters} AND ${inAnyCase} = ${caseless})`
      const behind = `quoin_caseless(substr(${read}, ${MOST_PLAIN + 1}))`
      return sql`(${letters} AND ${sorted} = ${value(`${plain}\u0001`)} || ${read} AND ${behind} = ${value(rest)})`
    }
    case 'contains': {
      const part = sql`instr(${inAnyCase}, ${caseless}) > 0`
      if (!ignoreAccents || plain === '') return part
      const letters = `substr(${sorted}, 1, length(${sorted}) - length(${read}) - 1)`
      return sql`(${part} OR instr(${ownLetters(letters, plain)}, ${value(plain)}) > 0)`
    }
    case 'startsWith': {
      const inCase = sql`instr(${inAnyCase}, ${caseless}) = 1`
      if (plain === '') return inCase
      const letters = joinWith(
        'OR',
        beginnings.map((beginning) => beginsWith(sorted, beginning)),
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
