/**
 * The words that the misspelled ones of a search may be. PostgreSQL keeps no list of words, so one statement lists those of the documents
 * that may match: the words with the same first letter and about the same length. `similar-word.ts` says which of them are near. The search
 * then asks for these words, which are in the index. 5 µs of PostgreSQL's time for a document of 30 words; on several cores if some are free.
 */
import { inTurns, type Steps } from '../../../shared/in-turns.ts'
import { wordsLike } from '../../../shared/names/similar-word.ts'
import { type CompiledSql, joinWith, sql } from '../../search/compiled-sql.ts'
import type { TextClause } from '../../search/rank-text.ts'
import { READ_TOKEN, type SearchEffort, tooMuchMisspelled } from '../../search/search-effort.ts'
import type { MisspelledWord } from '../../search/text-limits.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { oneRow, value } from './compiled-sql.ts'
import { firstLetters, misspelledWords, narrowCondition, similarKey } from './postgres-text-query.ts'
import { NO_WORDS, type SimilarWords } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

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
export async function similarWords(
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
  return inTurns(nearOnes(words, misspelled))
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
