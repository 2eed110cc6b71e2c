/**
 * `node bench/recorded-requests.ts`: what recording requests costs a constant endpoint, in processor time of the server and in turns. Three
 * servers: without it, with requests of other blueprints recorded, and with one request in a hundred of this one. Ends with 1 below 0.99 of
 * the requests a core serves without.
 */
import { isJsonObject } from '../src/shared/json.ts'
import { guidOf, objectsIn, textIn } from '../src/storage/document-fields.ts'
import { type Candidate, startQuoin } from './candidates.ts'
import { costInTurns } from './cost-in-turns.ts'
import { call } from './management-api.ts'
import { ask } from './requests.ts'

const rounds = Number(process.argv[2] ?? 15)
const GOAL = 0.99
const names = ['without', 'of other blueprints', 'one in a hundred'] as const

const servers = await Promise.all(
  names.map(async (name) => ({ name, server: await startQuoin({ core: undefined }) })),
)

async function record({ base, token }: Candidate, isOwn: boolean): Promise<void> {
  const api = { base, token }
  const found = await call(api, 'POST', 'blueprints/search', {})
  for (const blueprint of objectsIn(Array.isArray(found) ? found.filter(isJsonObject) : []))
    if (textIn(blueprint.name).startsWith('Bench: constant') === isOwn)
      await call(api, 'PUT', `blueprints/${guidOf(blueprint)}/tracing`, { on: false, record_one_in: 100 })
}

let isMet = false
try {
  for (const { name, server } of servers)
    if (name !== 'without') await record(server, name === 'one in a hundred')
  const request = { label: 'GET, cached reply', count: 10_000, ask: () => ask({ path: 'bench/constant' }) }
  isMet = await costInTurns(servers, request, { rounds, goal: GOAL })
} finally {
  for (const { server } of servers) await server.close()
}
process.exitCode = isMet ? 0 : 1
