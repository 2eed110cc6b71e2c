/** Compares what came of a step with what the test expects of it. */

import { cellProblem, compileCell } from '../../expressions/functions/cell-expression.ts'
import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { recordsOf } from '../management.ts'
import type { ScenarioCluster } from './scenario-cluster.ts'
import type { Expectation } from './scenario-file.ts'
import type { Answer } from './scenario-requests.ts'

/** Documents of a storage that an expectation is compared with. */
const MOST_DOCUMENTS = 10_000

/** Gives what is not as expected, one line each. Mails and calls are those since the last step that expected some. */
export function stateComparer(cluster: ScenarioCluster) {
  const { quoin, mails, calls } = cluster
  let seenMails = 0
  let seenCalls = 0
  return async (expect: Expectation, answer: Answer): Promise<readonly string[]> => {
    const found: string[] = []
    const look = (name: string, expected: JsonValue | undefined, actual: JsonValue | undefined) => {
      if (expected !== undefined) found.push(...differences(expected, actual, name, cluster.now()))
    }
    look('status', expect.status, answer.status)
    look('headers', lowerNames(expect.headers), answer.headers)
    look('body', expect.body, answer.body)
    look('address', expect.address, answer.address)
    const newMails = mails.slice(seenMails).map(({ to, cc, attachments, ...mail }) => ({
      ...{ ...mail, to: to.join(', '), cc: cc.join(', '), attachments: [...attachments] },
    }))
    look('mails', expect.mails, newMails)
    if (expect.mails !== undefined) seenMails = mails.length
    const newCalls = calls.calls
      .slice(seenCalls)
      .map(({ to, headers, body }) => ({ to, headers: { ...headers }, body }))
    look('calls', expect.calls, newCalls)
    if (expect.calls !== undefined) seenCalls = calls.calls.length
    if (expect.waits !== undefined) look('waits', expect.waits, await waiting(cluster))
    for (const [storage, expected] of Object.entries(expect.documents ?? {})) {
      if (!quoin.database.has(storage)) {
        const names = quoin.database.names().filter((one) => !isOwnStorage(one))
        found.push(
          `documents.${storage}: there is no storage ${storage}. There are: ${names.join(', ') || 'none'}`,
        )
        continue
      }
      const documents = await documentsOf(cluster, storage)
      look(`documents.${storage}`, expected, typeof expected === 'number' ? documents.length : documents)
    }
    const query = { kind: 'term', field: 'status', value: 'dead' } as const
    const dead = (await quoin.database.capabilities.jobs.search(search({ query, limit: 100 }))).records
    const requested = expect.dead ?? 0
    if (dead.length !== requested) {
      const titles = dead.map(({ title, lastError }) => `; ${title}: ${lastError}`).join('')
      found.push(`dead: expected ${requested} dead letters, got ${dead.length}${titles}`)
    }
    return found
  }
}

async function waiting({ quoin }: ScenarioCluster): Promise<number> {
  const query = { kind: 'term', field: 'state', value: 'waiting' } as const
  return (await quoin.waits.search(search({ query, limit: 1_000 }))).records.length
}

/** The oldest first. */
async function documentsOf({ quoin: { database } }: ScenarioCluster, storage: string): Promise<JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  const all = search({ query: matchAll, sort, limit: MOST_DOCUMENTS })
  return recordsOf((await database.session().find(storage, all)).documents.value)
}

function lowerNames(headers: JsonObject | undefined): JsonObject | undefined {
  return (
    headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  )
}

// What a test expects of a value. Of an object only the fields that are named count; a list has as many items, in order; a text that begins
// with `=` is a condition over `value`; `{ "contains": [ … ] }` says what is among the items of a list, or in a text.

/** Characters of a value in a message. */
const LONGEST_SHOWN = 200
/** Differences that are told of one expectation. */
const MAX_REPORTED = 20

/** One line each: `body.items.0.name: expected "a", got "b"`. `now`: milliseconds since 1970. */
export function differences(
  expected: JsonValue,
  actual: JsonValue | undefined,
  path: string,
  now: number,
): readonly string[] {
  const found: string[] = []
  compare(expected, actual, path, { now, found })
  return found.length <= MAX_REPORTED
    ? found
    : [...found.slice(0, MAX_REPORTED), `${found.length - MAX_REPORTED} more differences`]
}

interface Comparing {
  readonly now: number
  readonly found: string[]
}

function compare(expected: JsonValue, actual: JsonValue | undefined, path: string, to: Comparing): void {
  const requested = containedIn(expected)
  if (typeof expected === 'string' && expected.startsWith('=')) condition(expected.slice(1), actual, path, to)
  else if (requested !== undefined) contains(requested, actual, path, to)
  else if (Array.isArray(expected) && Array.isArray(actual)) items(expected, actual, path, to)
  else if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const [name, value] of Object.entries(expected))
      compare(value, actual[name], path === '' ? name : `${path}.${name}`, to)
  } else if (actual === undefined ? expected !== null : !sameJson(expected, actual))
    to.found.push(`${path}: expected ${shown(expected)}, got ${shown(actual)}`)
}

function items(
  expected: readonly JsonValue[],
  actual: readonly JsonValue[],
  path: string,
  to: Comparing,
): void {
  if (expected.length !== actual.length)
    to.found.push(`${path}: expected ${expected.length} items, got ${actual.length}: ${shown([...actual])}`)
  else for (const [at, item] of expected.entries()) compare(item, actual[at], `${path}.${at}`, to)
}

function condition(
  text: string,
  actual: JsonValue | undefined,
  path: string,
  { now, found }: Comparing,
): void {
  const problem = cellProblem(text)
  if (problem !== undefined) {
    found.push(`${path}: the condition =${text} cannot be read: ${problem}`)
    return
  }
  const context = {
    now: () => now,
    random: (bytes: number) => new Uint8Array(bytes),
    timeZone: 'UTC',
    locale: 'en-US',
    spend: () => undefined,
  }
  try {
    const result = compileCell(text, []).evaluate({ doc: {}, value: actual, context })
    if (result !== true) found.push(`${path}: =${text} does not hold for ${shown(actual)}`)
  } catch (error) {
    found.push(
      `${path}: =${text} failed for ${shown(actual)}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function containedIn(expected: JsonValue): readonly JsonValue[] | undefined {
  if (!isJsonObject(expected)) return undefined
  const { contains, ...others } = expected
  return Array.isArray(contains) && Object.keys(others).length === 0 ? contains : undefined
}

function contains(
  requested: readonly JsonValue[],
  actual: JsonValue | undefined,
  path: string,
  to: Comparing,
): void {
  for (const one of requested) {
    const isThere =
      typeof actual === 'string'
        ? typeof one === 'string' && actual.includes(one)
        : Array.isArray(actual) && actual.some((item) => differences(one, item, path, to.now).length === 0)
    if (!isThere) to.found.push(`${path}: expected ${shown(one)} in ${shown(actual)}`)
  }
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}
