/**
 * Free texts that SQL cannot decide. First it is found out which words the misspelled ones may be (`similarWords`), which is mostly all. For the
 * rest the documents that may match are read, in batches, and the reference says which do.
 * The search then asks for their guids. With a free-text index those are few, without one it is the whole storage: about
 * 25 µs a document, as much as one search may look at, and the event loop turns every 10 ms. All of these statements have to see one state of the database
 * (`PostgresPool.snapshot`): else a document that is changed meanwhile may be missing although it matched all the time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runCooperatively, type Steps } from '../../../shared/cooperative.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import { wordsLike } from '../../../shared/names/similar-word.ts'
import type { Query, Search } from '../../../shared/query.ts'
import type { MisspelledWord } from '../../search/check-search.ts'
import { type CompiledSql, joinWith, sql } from '../../search/compiled-sql.ts'
import { textMatches, textQuery } from '../../search/match-text.ts'
import type { TextClause } from '../../search/rank-text.ts'
import {
  EffortSpent,
  READ_TOKEN,
  type SearchEffort,
  tooMuchMisspelled,
  tooMuchToCompare,
  unitsOfText,
} from '../../search/search-effort.ts'
import { documentTokens, valueTokens } from '../../search/text-tokens.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { jsonField, oneRow, statement, texts, value } from './field-sql.ts'
import { condition } from './postgres-condition.ts'
import {
  firstLetters,
  isDecidedBefore,
  misspelledWords,
  narrowCondition,
  similarKey,
} from './postgres-text-query.ts'
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
import { estimateRows } from './text-estimate.ts'

// The words that the misspelled ones of a search may be. PostgreSQL keeps no list of words, so one statement lists those of the documents
// that may match: the words with the same first letter and about the same length. `similar-word.ts` says which of them are near. The search
// then asks for these words, which are in the index. 5 µs of PostgreSQL's time for a document of 30 words; on several cores if some are free.

/** Documents that are looked at for an estimate, some thousand pages: 50 ms. Of so many or fewer all are. */
const SAMPLE = 10_000
/** Words that are sent to this process, about a megabyte. */
const MOST_LISTED = 100_000
/** Words of a search that are looked up. Where there are more, the documents themselves are read (`decide-texts.ts`). */
const MOST_SIMILAR = 500
/** Words that are compared between two steps. */
const STEP = 1_000

/**
 * By {@link similarKey}. Empty where there are too many similar words. `required`: what documents must be that are found. Throws SEARCH_TOO_COSTLY
 * when that is more than the effort allows.
 */
async function similarWords(
  connection: PostgresConnection,
  target: SearchTarget,
  clauses: readonly TextClause[],
  { required, effort }: { readonly required: readonly CompiledSql[]; readonly effort: SearchEffort },
): Promise<SimilarWords> {
  const open = clauses.filter((clause) => misspelledWords(target, clause).length > 0)
  const misspelled = open.flatMap((clause) => misspelledWords(target, clause))
  if (misspelled.length === 0) return NO_WORDS
  const narrow = joinWith(
    'OR',
    open.map((clause) => narrowCondition(target, clause, NO_WORDS)),
  )
  const where = joinWith('AND', [...required, narrow, firstLetters(misspelled)])
  const most = Math.floor(effort.left / READ_TOKEN)
  if ((await lookedAt(connection, target, where, most)) > most) throw tooMuchMisspelled()
  const listed = await oneRow(connection, listSql(target, where, misspelled))
  const words = textOf(listed, 'words').split(' ')
  if (words.length > MOST_LISTED) return NO_WORDS
  return runCooperatively(nearOnes(words, misspelled))
}

/**
 * How many tokens the list is made of, 0 where the whole storage has no more than `most`. By a sample: counting those of a million documents
 * took 25 s on a busy machine, and then the search was refused. The sample is the same each time, so the answer is too.
 */
async function lookedAt(
  connection: PostgresConnection,
  { id, table }: SearchTarget,
  where: CompiledSql,
  most: number,
): Promise<number> {
  const totals = sql`SELECT coalesce(sum(documents), 0)::float8 AS documents, coalesce(sum(tokens), 0)::float8 AS tokens
    FROM text_total WHERE storage = ${String(id)}`
  const all = await oneRow(connection, totals)
  if (numberOf(all, 'tokens') <= most) return 0
  const share = Math.min(1, SAMPLE / numberOf(all, 'documents'))
  const sampled = sql`SELECT coalesce(sum(token_count), 0)::float8 AS tokens
    FROM ${table} TABLESAMPLE SYSTEM (${String(100 * share)}) REPEATABLE (1) WHERE ${where}`
  return numberOf(await oneRow(connection, sampled), 'tokens') / share
}

/** One row: `words`, with spaces between them. */
function listSql({ table }: SearchTarget, where: CompiledSql, misspelled: readonly MisspelledWord[]) {
  const all = sql`SELECT unnest(tsvector_to_array(tokens)) COLLATE "C" AS word FROM ${table} WHERE ${where}`
  const distinct = sql`SELECT DISTINCT word FROM (${all}) AS words WHERE ${joinWith('OR', misspelled.map(mayBe))} LIMIT ${String(MOST_LISTED + 1)}`
  return sql`SELECT coalesce(string_agg(word, ' '), '') AS words FROM (${distinct}) AS listed`
}

/** As CASE: PostgreSQL expects half of the words then, and else so few that it sorts all of them. */
function mayBe({ token, distance }: MisspelledWord): CompiledSql {
  const [first = '', ...others] = token
  const length = 1 + others.length
  return sql`(CASE WHEN word LIKE ${value(`${first}%`)} THEN length(word) BETWEEN ${value(length - distance)} AND ${value(length + distance)} ELSE FALSE END)`
}

function* nearOnes(words: readonly string[], misspelled: readonly MisspelledWord[]): Steps<SimilarWords> {
  const near = new Map<string, readonly string[]>()
  let found = 0
  for (const word of misspelled) {
    const isLike = wordsLike(word.token, word.distance)
    const like: string[] = []
    for (const [at, other] of words.entries()) {
      if (isLike(other)) like.push(other)
      if (at % STEP === 0) yield undefined
    }
    near.set(similarKey(word), like)
    found += like.length
    if (found > MOST_SIMILAR) return NO_WORDS
  }
  return near
}

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
    const requested = textQuery(clause.text)
    const found: string[] = []
    await eachTokens(connection, target, { where, fields: clause.fields, effort }, (guid, tokens) => {
      if (textMatches(requested, tokens, effort)) found.push(guid)
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
