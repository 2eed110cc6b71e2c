/**
 * `node bench/recorded-requests.ts [pairs]`: what recording requests costs a constant endpoint, in processor time of the server. One server,
 * on which it is turned on and off in turns: nothing recorded, and one request in a hundred. Ends with 1 below 0.99 of the requests a core
 * serves without. The quarters of the pairs say how busy the machine was.
 */
import { isJsonObject } from '../src/shared/json.ts'
import { guidOf, textIn } from '../src/storage/document-fields.ts'
import { startQuoin } from './candidates.ts'
import { costInTurns } from './cost-in-turns.ts'
import { call } from './management-api.ts'
import { ask } from './requests.ts'

const rounds = Number(process.argv[2] ?? 200)
const GOAL = 0.99

const server = await startQuoin({ core: undefined })
const api = { base: server.base, token: server.token }
let isMet = false
try {
  const found = await call(api, 'POST', 'blueprints/search', {})
  const blueprint = (Array.isArray(found) ? found.filter(isJsonObject) : []).find((one) =>
    textIn(one.name).startsWith('Bench: constant'),
  )
  if (!blueprint) throw new Error('There is no blueprint with a constant reply.')
  const recorded = (oneIn: number) => async () => {
    const path = `blueprints/${guidOf(blueprint)}/tracing`
    await call(api, 'PUT', path, { on: false, record_one_in: oneIn })
    // What is done once behind the change: the flow is compiled again, and the first request of its shape recorded.
    for (let times = 0; times < 20; times++) await fetch(`${server.base}/api/v1/bench/constant`)
  }
  const turns = [
    { name: 'without', server, prepare: recorded(0) },
    { name: 'one in a hundred', server, prepare: recorded(100) },
  ]
  const request = { label: 'GET, cached reply', count: 5_000, ask: () => ask({ path: 'bench/constant' }) }
  isMet = (await costInTurns(turns, request, rounds)).every(({ ratio }) => ratio >= GOAL)
} finally {
  await server.close()
}
process.exitCode = isMet ? 0 : 1
