/** Compares what came of a step with what the test expects of it. */
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { recordsOf } from '../management.ts'
import { differences } from './match-value.ts'
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
