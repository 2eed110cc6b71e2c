/**
 * The 20 best hits of free texts of many kinds over 100,000 or 1,000,000 articles, on both engines: one request at a time, because what is measured is
 * how long one takes and not how long it waits for others.
 */
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { Latencies } from '../latencies.ts'
import { runLoad } from '../load.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { ask } from '../requests.ts'
import { articleBody, word } from '../sample-articles.ts'
import { guidsOf } from './documents-of.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

/** Of one kind between two writes: no text is asked for twice, so no cache can answer. */
const SEARCHES = 20

/** By rank of their words: what half of the articles have, and what a handful has. */
const kinds: Readonly<Record<string, (number: number) => string>> = {
  'very frequent word': (number) => word(number),
  'frequent word': (number) => word(20 + number),
  'rare word': (number) => word(500 + number * 7),
  'very rare word': (number) => word(8_000 + number * 31),
  'two words': (number) => `${word(number % 10)} ${word(100 + number)}`,
  'either word': (number) => `${word(5 + number)} | ${word(300 + number)}`,
  'one without the other': (number) => `${word(30 + number)} -${word(number % 10)}`,
  'begin of a word': (number) => `${word(900 + number * 83).slice(0, 3)}*`,
  phrase: (number) => `"${word(number % 5)} ${word(5 + number)}"`,
  'word with a wrong letter': (number) => `${word(2_000 + number)}~1`,
}

export const freeText = goalOf('text', 100_000, 5)
/** With few articles they are tried out in a minute. */
export const freeTextOfMillion: readonly Goal[] = [
  goalOf('text-million', 1_000_000, 10),
  { ...goalOf('text-million-postgres', 1_000_000, 10, ' on PostgreSQL'), measure: onPostgres },
]

function goalOf(id: string, articles: number, most: number, place = ''): Goal {
  return {
    id,
    title: `free text over ${articles.toLocaleString('en-US')} documents${place}, 20 hits`,
    goal: `p50 under ${most} ms`,
    measure: (timing) => measure(timing, articles, most),
  }
}

async function onPostgres(timing: GoalTiming): Promise<Reached> {
  const server = await openMeasuredPostgres({ durable: true })
  try {
    return await measure(timing, 1_000_000, 10, { DATABASE_URL: server.url('postgres') })
  } finally {
    await server.close()
  }
}

async function measure(
  { core, rounds }: GoalTiming,
  articles: number,
  most: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Reached> {
  const candidate = await startQuoin({
    core,
    settings,
    blueprints: [new URL('../search.blueprint.json', import.meta.url)],
  })
  try {
    await importDocuments(candidate, 'articles', articles, articleBody)
    const hits = await guidsOf(candidate, `bench/articles?text=${word(0)}`)
    if (hits.length !== 20) throw new Error(`The most frequent word has ${hits.length} hits and not 20.`)
    const all = new Latencies()
    const slowest = { name: '', p50: 0 }
    const refused: string[] = []
    for (const [name, kind] of Object.entries(kinds)) {
      const own = new Latencies()
      if (await isRefused(candidate, kind(0))) {
        refused.push(`${name}: refused`)
        continue
      }
      for (let round = -1; round < rounds; round++) {
        const latencies = await search(candidate, kind, articles + round + 1)
        if (round >= 0) own.add(latencies)
      }
      const p50 = own.within(0.5)
      console.log(`  ${name}: p50 ${milliseconds(p50)}`)
      if (p50 > slowest.p50) Object.assign(slowest, { name, p50 })
      all.add(own)
    }
    const [p50, p99] = [all.within(0.5), all.within(0.99)]
    const slow = `slowest kind: ${slowest.name}, ${milliseconds(slowest.p50)}`
    const found = [`p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`, slow, ...refused].join('; ')
    return { found, met: p50 < most }
  } finally {
    await candidate.close()
  }
}

/** Whether a text is too much to look at for PostgreSQL. */
async function isRefused({ port }: Candidate, text: string): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/bench/articles?text=${encodeURIComponent(text)}`)
  await reply.arrayBuffer()
  if (reply.ok) return false
  if (reply.status === 503) return true
  throw new Error(`A search was answered with ${reply.status}.`)
}

/** The same number of every kind, so that slow ones count as much as fast ones. A write comes first. */
async function search(
  { port, token }: Candidate,
  kind: (number: number) => string,
  written: number,
): Promise<Latencies> {
  const body = articleBody(written)
  const asks = [
    ask({ method: 'POST', path: 'bench/articles', token, body, expected: 201, counted: false }),
    ...Array.from({ length: SEARCHES }, (_, number) =>
      ask({ path: `bench/articles?text=${encodeURIComponent(kind(number))}` }),
    ),
  ]
  const { errors, firstError, latencies } = await runLoad({ port, connections: 1, next: () => asks.shift() })
  if (errors > 0) throw new Error(`A search was not answered: ${firstError}`)
  return latencies
}
