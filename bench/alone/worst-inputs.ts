/**
 * What one request of anyone costs the others: while it is served, another client asks for a constant again and again, and the slowest
 * of these replies is for how long the event loop was held.
 */
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { LONGEST_TURN_MS } from '../../test/turn-guard.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { call, guidIn, signIn, storageGuid } from '../management-api.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { worstAddresses, worstSenders } from './worst-addresses.ts'
import {
  CONTROL_LIMIT,
  LISTED,
  listedDocument,
  type WorstInput,
  worstControl,
  worstFields,
  worstInputs,
} from './worst-bodies.ts'

/** Named in the table. */
const MOST_NAMED = 6
/** Before and behind each, so that a turn that is held is seen whole. */
const AROUND_MS = 10

const all = [...worstInputs, ...worstAddresses]
const PASSWORD = 'a long password of the benchmark'

export const worstOfAnyone: Goal = {
  id: 'worst-inputs',
  title: `${all.length} requests that take as long as they can, a megabyte each, and more where a setting allows it: of anyone, of users without scopes, of readers and of builders`,
  goal: `others wait for at most ${LONGEST_TURN_MS} ms`,
  measure,
}

async function measure({ core }: GoalTiming): Promise<Reached> {
  const candidate = await startQuoin({
    core,
    settings: { QUOIN_BODY_LIMIT: String(CONTROL_LIMIT) },
    blueprints: [new URL('../worst-inputs.blueprint.json', import.meta.url)],
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const { base, token } = candidate
    for (const field of worstFields)
      await call({ base, token }, 'POST', 'blueprintfields', { ...field, storage: 'worst' })
    await importDocuments(candidate, 'thousands', LISTED, listedDocument)
    const known = await openSenders(candidate)
    const control = await waitFor(candidate, agent, known(worstControl))
    if (control <= LONGEST_TURN_MS)
      throw new Error(`The control held the event loop for ${milliseconds(control)}: nothing would be seen.`)
    const found: { readonly name: string; readonly wait: number }[] = []
    for (const asked of all) {
      const input = known(asked)
      const waits = [await waitFor(candidate, agent, input), await waitFor(candidate, agent, input)]
      waits.push(await waitFor(candidate, agent, input))
      const wait = median(waits)
      if (wait > LONGEST_TURN_MS) console.log(`  ${input.name}: ${milliseconds(wait)}`)
      found.push({ name: input.name, wait })
    }
    return reached(found.toSorted((a, b) => b.wait - a.wait))
  } finally {
    agent.destroy()
    await candidate.close()
  }
}

function reached(found: readonly { readonly name: string; readonly wait: number }[]): Reached {
  const tooLong = found.filter(({ wait }) => wait > LONGEST_TURN_MS)
  const named = found.slice(0, MOST_NAMED).map(({ name, wait }) => `${name} ${milliseconds(wait)}`)
  const others = found.length - tooLong.length
  return {
    found: `${others} within ${LONGEST_TURN_MS} ms, half of all within ${milliseconds(median(found.map(({ wait }) => wait)))}; the longest: ${named.join(', ')}`,
    met: tooLong.length === 0,
  }
}

let asked = 0

/** The longest that another client waits for a constant while this is served, in milliseconds. */
async function waitFor({ port }: Candidate, agent: Agent, input: WorstInput): Promise<number> {
  const state = { isServed: false, longest: 0 }
  asked += 1
  const asking = (async () => {
    while (!state.isServed) {
      const began = performance.now()
      await constant(port, agent)
      state.longest = Math.max(state.longest, performance.now() - began)
    }
  })()
  await setTimeout(AROUND_MS)
  const { method, body, isSite, headers = {} } = input
  const path = input.path.replace('{n}', String(asked))
  const reply = await fetch(`http://127.0.0.1:${port}/${isSite ? '' : 'api/v1/'}${path}`, {
    redirect: 'manual',
    method,
    headers,
    ...(body && { body }),
  })
  await reply.arrayBuffer()
  await setTimeout(AROUND_MS)
  state.isServed = true
  await asking
  if (reply.status === 500 || (reply.status === 404 && !input.isAbsent))
    throw new Error(`${input.name} was answered with ${reply.status}.`)
  return state.longest
}

/** Gives inputs with the tokens of their senders, and with the guids that stand in their paths. */
async function openSenders({ base, token }: Candidate): Promise<(input: WorstInput) => WorstInput> {
  const api = { base, token }
  const tokens = new Map<string, string>()
  for (const [username, scopes] of Object.entries(worstSenders)) {
    await call(api, 'POST', 'users', { username, password: PASSWORD, custom_scopes: scopes })
    tokens.set(username, (await signIn(base, username, PASSWORD)).token)
  }
  const blueprints = await call(api, 'POST', 'blueprints/search', {})
  const first: unknown = Array.isArray(blueprints) ? blueprints[0] : undefined
  const storage = await storageGuid(api, 'worst')
  const blueprint = guidIn(first)
  return (input) => ({
    ...input,
    path: input.path.replace('{storage}', storage).replace('{blueprint}', blueprint),
    headers: { ...input.headers, ...(input.as && { authorization: `Bearer ${tokens.get(input.as)}` }) },
  })
}

function constant(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = get({ port, host: '127.0.0.1', path: '/api/v1/worst/ping', agent }, (reply) => {
      reply.resume()
      reply.on('end', resolve)
      reply.on('error', reject)
    })
    asked.on('error', reject)
  })
}
