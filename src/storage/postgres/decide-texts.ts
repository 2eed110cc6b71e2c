/**
 * Free texts that SQL cannot decide: the documents that may match are read, in batches, and the reference says which do.
 * The search then asks for their guids. With a free-text index those are few, without one it is the whole storage: about
 * 25 µs a document, and the event loop turns between batches.
 */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import { type CompiledSql, joinWith, sql } from '../compiled-sql.ts'
import { textMatches, textQuery } from '../match-text.ts'
import type { TextClause } from '../rank-text.ts'
import { documentTokens, valueTokens } from '../text-tokens.ts'
import { statement, texts } from './compiled-sql.ts'
import { jsonField } from './field-sql.ts'
import { condition } from './postgres-condition.ts'
import { type PostgresConnection, textOf } from './postgres-connection.ts'
import { isDecidedBefore, narrowCondition } from './postgres-text-query.ts'
import { type Decisions, UNDECIDED } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Documents read at once. */
const BATCH = 500

export async function decideTexts(
  connection: PostgresConnection,
  target: SearchTarget,
  query: Query,
): Promise<Decisions> {
  const clauses = openClauses(target, query)
  if (clauses.length === 0) return UNDECIDED
  const plan = { target, plain: new Set<string>(), decided: UNDECIDED }
  // What must hold anyway: other documents are not found, whatever their text.
  const required = requiredParts(query)
    .filter((part) => openClauses(target, part).length === 0)
    .map((part) => condition(plan, part))
  const decided = new Map<TextClause, readonly string[]>()
  for (const clause of clauses) {
    const where = joinWith('AND', [...required, narrowCondition(target, clause)])
    const wanted = textQuery(clause.text)
    const found: string[] = []
    await eachTokens(connection, target, where, clause.fields, (guid, tokens) => {
      if (textMatches(wanted, tokens)) found.push(guid)
    })
    decided.set(clause, found)
  }
  return decided
}

/** Tells the tokens of each document, or of these fields of it. */
export async function eachTokens(
  connection: PostgresConnection,
  { table }: SearchTarget,
  where: CompiledSql,
  fields: readonly string[],
  tell: (guid: string, tokens: string[]) => void,
): Promise<void> {
  const all = statement(sql`SELECT coalesce(string_agg(guid, ','), '') AS guids FROM ${table} WHERE ${where}`)
  const [row] = await connection.rows(all.text, all.values)
  const guids = row ? textOf(row, 'guids').split(',').filter(Boolean) : []
  const read =
    fields.length === 0 ? 'doc::text' : `json_build_array(${fields.map(jsonField).join(', ')})::text`
  for (let start = 0; start < guids.length; start += BATCH) {
    const batch = texts(guids.slice(start, start + BATCH))
    const { text, values } = statement(
      sql`SELECT guid, ${read} AS text FROM ${table} WHERE guid = ANY (${batch})`,
    )
    for (const found of await connection.rows(text, values))
      tell(textOf(found, 'guid'), tokensOf(JSON.parse(textOf(found, 'text'))))
  }
}

function tokensOf(value: JsonValue): string[] {
  if (Array.isArray(value)) return valueTokens(value)
  return isJsonObject(value) ? documentTokens(value) : []
}

function openClauses(target: SearchTarget, query: Query): TextClause[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap((inner) => openClauses(target, inner))
    case 'not':
    case 'filter':
      return openClauses(target, query.query)
    case 'simple_query_string':
      return isDecidedBefore(target, query) ? [query] : []
    default:
      return []
  }
}

function requiredParts(query: Query): Query[] {
  if (query.kind === 'and') return query.queries.flatMap(requiredParts)
  return query.kind === 'filter' ? requiredParts(query.query) : [query]
}
