/** The best hits of a free text, from words in memory of one moment: their guids and scores. */
import type { Query, Search } from '../../../shared/query.ts'
import type { Postings } from '../../ranking/postings.ts'
import { leadingRows, type Scored, scoreAt, scoresOf, splitAt } from '../../ranking/scores.ts'
import { candidatesOfAll, onlyText, textPlan } from '../../ranking/text-candidates.ts'
import { type RankedPhrase, rankedPhrases } from '../../search/rank-text.ts'
import { EffortSpent, SearchEffort } from '../../search/search-effort.ts'
import type { PostingLists } from './posting-lists.ts'

export interface RankedHit {
  readonly guid: string
  readonly score: number
}

export interface RankedHits {
  /** Best first; of equally good ones the newest first. */
  readonly hits: readonly RankedHit[]
  /** Whether there are no further ones. */
  readonly isAll: boolean
  /** How many documents match in all; undefined where words alone do not tell. */
  readonly total: number | undefined
}

/** What would have to be in memory. */
export interface MissingWords {
  readonly phrases: readonly RankedPhrase[]
}

/** Of one turn of the event loop: some 25 ms. What needs more is PostgreSQL's to do. */
const EFFORT = 500_000

/**
 * The best `most` hits, and the total where it `counts`. undefined: words in memory do not lead to what is found, or it is too much to look at in one turn. Of a search that was
 * checked.
 */
export function rankInMemory(
  memory: PostingLists,
  { query }: Pick<Search, 'query'>,
  most: number,
  counts = false,
): RankedHits | MissingWords | undefined {
  const plan = textPlan(query)
  if (plan === undefined || plan.clauses.some(({ fields }) => fields.length > 0)) return undefined
  const phrases = rankedPhrases(plan.clauses)
  if (phrases.length === 0) return undefined
  const missing: RankedPhrase[] = []
  const effort = new SearchEffort(EFFORT)
  const words = {
    documents: memory.documents,
    average: memory.average,
    of(phrase: RankedPhrase): Postings {
      const known = memory.of(phrase)
      if (known === undefined) missing.push(phrase)
      return known ?? NOWHERE
    },
    similarTo(): never {
      throw new EffortSpent()
    },
    miss: () => undefined,
    lengths: (rows: Int32Array) => memory.lengths(rows),
    spend: (units: number) => effort.spend(units),
  }
  try {
    for (const phrase of phrases) words.of(phrase)
    const text = missing.length > 0 || counts ? undefined : onlyText(plan)
    const leading = text && leadingRows(words, text, most, (scored) => forgetRemoved(memory, scored))
    if (leading) return { hits: bestOf(memory, leading, most), isAll: false, total: undefined }
    const candidates = candidatesOfAll(words, plan.clauses)
    if (missing.length > 0) return { phrases: missing }
    if (candidates === undefined) return undefined
    const { rows } = candidates
    const scores = scoresOf(words, phrases, rows)
    effort.spend(rows.length / ROWS_A_UNIT)
    const present = forgetRemoved(memory, { rows, scores })
    const best = bestOf(memory, { rows, scores }, most)
    const total = candidates.exact && plan.others.every(isAll) ? present : undefined
    return { hits: best, isAll: best.length === present, total }
  } catch (error) {
    if (error instanceof EffortSpent) return undefined
    throw error
  }
}

const NOWHERE: Postings = { rows: new Int32Array(0), counts: new Uint16Array(0) }
const ROWS_A_UNIT = 10
const REMOVED = -1

function isAll(query: Query): boolean {
  return query.kind === 'all'
}

/** Gives removed documents a score below all others, and says how many are left. */
function forgetRemoved(memory: PostingLists, { rows, scores }: Scored): number {
  let present = rows.length
  for (let at = 0; at < rows.length; at++)
    if (memory.isRemoved(rows[at] ?? 0)) {
      scores[at] = REMOVED
      present -= 1
    }
  return present
}

function bestOf(memory: PostingLists, scored: Scored, most: number): RankedHit[] {
  const least = scoreAt(scored.scores, most)
  const { better, equal } = splitAt(scored, least)
  const sure = better.filter(([, score]) => score !== REMOVED)
  sure.sort(([a, left], [b, right]) => right - left || memory.byAge(a, b))
  // Where the worst of the best are removed, all others are better.
  const ties = least === REMOVED ? [] : newestOf(memory, equal, most - sure.length)
  return [...sure, ...ties.map((row) => [row, least] as const)].map(([row, score]) => ({
    guid: memory.guidOf(row),
    score,
  }))
}

/** In one walk from the end, where the newest mostly are: a word may be equally good in all documents. */
function newestOf(memory: PostingLists, rows: Int32Array, most: number): number[] {
  const byAge = (a: number, b: number) => memory.byAge(a, b)
  let newest: number[] = []
  let oldest: number | undefined
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at] ?? 0
    if (oldest !== undefined && byAge(row, oldest) > 0) continue
    newest.push(row)
    if (newest.length < 2 * most) continue
    newest = newest.sort(byAge).slice(0, most)
    oldest = newest.at(-1)
  }
  return newest.sort(byAge).slice(0, most)
}
