/**
 * Free texts that SQL cannot decide. First it is found out which words the misspelled ones may be (`similar-words.ts`), which is mostly all. For the
 * rest the documents that may match are read, in batches, and the reference says which do.
 * The search then asks for their guids. With a free-text index those are few, without one it is the whole storage: about
 * 25 µs a document, as much as one search may look at, and the event loop turns every 10 ms. All of these statements have to see one state of the database
 * (`PostgresPool.snapshot`): else a document that is changed meanwhile may be missing although it matched all the time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import type { Query, Search } from '../../../shared/query.ts'
import { type CompiledSql, joinWith, sql } from '../../search/compiled-sql.ts'
import { textMatches, textQuery } from '../../search/match-text.ts'
import type { TextClause } from '../../search/rank-text.ts'
import {
  EffortSpent,
  READ_TOKEN,
  type SearchEffort,
  tooMuchToCompare,
  unitsOfText,
} from '../../search/search-effort.ts'
import { documentTokens, valueTokens } from '../../search/text-tokens.ts'
import { type PostgresConnection, textOf } from '../core/rows.ts'
import { oneRow, statement, texts } from './compiled-sql.ts'
import { jsonField } from './field-sql.ts'
import { condition } from './postgres-condition.ts'
import { isDecidedBefore, narrowCondition } from './postgres-text-query.ts'
import {
  askedFields,
  type Decisions,
  NO_WORDS,
  question,
  type SearchPlan,
  type SimilarWords,
  UNDECIDED,
} from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'
import { similarWords } from './similar-words.ts'
import { estimateRows } from './text-estimate.ts'

/** Documents read at once. */
const BATCH = 500
/** What a document takes at least, in units of search-effort.ts: one of five words. */
const LEAST_EFFORT = 25
/** How long the event loop may wait, each turn. */
const TURN_MS = 10

/** Whether the search consists of several statements; they belong into one snapshot. */
export function decidesFirst(target: SearchTarget, query: Query): boolean {
  return openClauses(target, query).length > 0
}

/** Throws SEARCH_TOO_COSTLY when that is more than the effort allows. */
export async function decideTexts(
  connection: PostgresConnection,
  target: SearchTarget,
  { query, includeRemoved }: Pick<Search, 'query' | 'includeRemoved'>,
  effort: SearchEffort,
): Promise<Decisions> {
  const clauses = openClauses(target, query)
  if (clauses.length === 0) return UNDECIDED
  const required = await requiredConditions(connection, target, query)
  if (!includeRemoved) required.push(sql`removed = 0`)
  const similar = await similarWords(connection, target, clauses, { required, effort })
  const guids = new Map<TextClause, readonly string[]>()
  for (const clause of openClauses(target, query, similar)) {
    const where = joinWith('AND', [...required, narrowCondition(target, clause, similar)])
    const wanted = textQuery(clause.text)
    const found: string[] = []
    await eachTokens(connection, target, { where, fields: clause.fields, effort }, (guid, tokens) => {
      if (textMatches(wanted, tokens, effort)) found.push(guid)
    })
    guids.set(clause, found)
  }
  return { guids, similar }
}

/** What must hold anyway: other documents are not found, whatever their text. */
async function requiredConditions(
  connection: PostgresConnection,
  target: SearchTarget,
  query: Query,
): Promise<CompiledSql[]> {
  const parts = requiredParts(query).filter((part) => openClauses(target, part).length === 0)
  const asked = [...new Set(parts.flatMap((part) => askedFields(target, part)))]
  const { plain } =
    asked.length > 0 ? await oneRow(connection, sql`SELECT ${question(target, asked)} AS plain`) : {}
  const plan: SearchPlan = { target, plain: new Set(plain === true ? asked : []), decided: UNDECIDED }
  return parts.map((part) => condition(plan, part))
}

interface Reading {
  readonly where: CompiledSql
  /** Empty: all of the document. */
  readonly fields: readonly string[]
  readonly effort: SearchEffort
}

/** Tells the tokens of each document, or of these fields of it. Throws SEARCH_TOO_COSTLY, where an estimate says so before any is read. */
export async function eachTokens(
  connection: PostgresConnection,
  target: SearchTarget,
  { where, fields, effort }: Reading,
  tell: (guid: string, tokens: string[]) => void,
): Promise<void> {
  const { table } = target
  const [documents = 0] = await estimateRows(connection, target, [where])
  if (documents * LEAST_EFFORT > effort.left) throw tooMuchToCompare()
  const all = await oneRow(
    connection,
    sql`SELECT coalesce(string_agg(guid, ','), '') AS guids FROM ${table} WHERE ${where}`,
  )
  const guids = textOf(all, 'guids').split(',').filter(Boolean)
  const read =
    fields.length === 0 ? 'doc::text' : `json_build_array(${fields.map(jsonField).join(', ')})::text`
  for (let start = 0; start < guids.length; start += BATCH) {
    const batch = texts(guids.slice(start, start + BATCH))
    const { text, values } = statement(
      sql`SELECT guid, ${read} AS text FROM ${table} WHERE guid = ANY (${batch})`,
    )
    let began = performance.now()
    for (const found of await connection.rows(text, values)) {
      bounded(() => {
        const document = textOf(found, 'text')
        effort.spend(unitsOfText(document))
        const tokens = tokensOf(JSON.parse(document))
        effort.spend(tokens.length * READ_TOKEN)
        tell(textOf(found, 'guid'), tokens)
      })
      if (performance.now() - began < TURN_MS) continue
      await nextTurn()
      began = performance.now()
    }
  }
}

function bounded(work: () => void): void {
  try {
    work()
  } catch (error) {
    throw error instanceof EffortSpent ? tooMuchToCompare() : error
  }
}

function tokensOf(value: JsonValue): string[] {
  if (Array.isArray(value)) return valueTokens(value)
  return isJsonObject(value) ? documentTokens(value) : []
}

/** The free texts that SQL cannot decide. */
function openClauses(
  target: SearchTarget,
  query: Query,
  similar: SimilarWords = NO_WORDS,
): readonly TextClause[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap((inner) => openClauses(target, inner, similar))
    case 'not':
    case 'filter':
      return openClauses(target, query.query, similar)
    case 'simple_query_string':
      return isDecidedBefore(target, query, similar) ? [query] : []
    default:
      return []
  }
}

function requiredParts(query: Query): Query[] {
  if (query.kind === 'and') return query.queries.flatMap(requiredParts)
  return query.kind === 'filter' ? requiredParts(query.query) : [query]
}
