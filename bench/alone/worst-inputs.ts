/**
 * What one request of anyone costs the others: for how long it holds the event loop at a stretch, in processor time, since on a busy machine
 * others wait for as long as the core is taken by other processes too. Each is sent once, and four times more where that took over half of what
 * may be: other work on the machine only adds time (it takes caches and the other half of a core), so that the cheapest says most of the request
 * itself. The median of those is printed beside it.
 */
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { isJsonObject } from '../../src/shared/json.ts'
import { LONGEST_TURN_MS } from '../../test/turn-guard.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { call, guidIn, signIn, storageGuid } from '../management-api.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { worstAddresses, worstKeys, worstSenders } from './worst-addresses.ts'
import {
  CONTROL_LIMIT,
  LISTED,
  listedDocument,
  type WorstInput,
  worstControl,
  worstFields,
  worstInputs,
} from './worst-bodies.ts'
import { worstPrograms } from './worst-programs.ts'

/** Named in the table. */
const MOST_NAMED = 6
/** Before and behind each, so that a turn that is held is seen whole. */
const AROUND_MS = 10
/** Of a request that is not far below the limit at once. */
const TRIES = 5
const MEMBERS = 1_000
/** Of one request on a busy machine: Quoin's own deadline is 30 seconds. */
const ANSWER_MS = 120_000

const all = [...worstInputs, ...worstAddresses, ...worstPrograms]
const PASSWORD = 'a long password of the benchmark'

export const worstOfAnyone = goal('worst-inputs', '', measureEmbedded)
export const worstOnPostgres = goal('worst-inputs-postgres', ', on PostgreSQL', measurePostgres)

function goal(id: string, where: string, measured: Goal['measure']): Goal {
  return {
    id,
    title: `${all.length} requests that take as long as they can, a megabyte each, and more where a setting allows it: of anyone, of users without scopes, of readers and of builders${where}`,
    goal: `one turn of the event loop takes at most ${LONGEST_TURN_MS} ms of processor time`,
    measure: measured,
  }
}

function measureEmbedded({ core }: GoalTiming): Promise<Reached> {
  return measure(core, {})
}

async function measurePostgres({ core }: GoalTiming): Promise<Reached> {
  const server = await openMeasuredPostgres()
  try {
    return await measure(core, { DATABASE_URL: server.url('postgres') })
  } finally {
    await server.close()
  }
}

/** Of one request: the longest turn of the server in processor time, and the longest wait of another client, in milliseconds. */
interface Held {
  readonly name: string
  readonly turn: number
  readonly wait: number
}

async function measure(
  core: GoalTiming['core'],
  settings: Readonly<Record<string, string>>,
): Promise<Reached> {
  const candidate = await startQuoin({
    core,
    reports: 'turns',
    settings: {
      ...settings,
      QUOIN_BODY_LIMIT: String(CONTROL_LIMIT),
      // Passkeys and OAuth need a name of the site.
      QUOIN_PUBLIC_URL: 'http://localhost',
    },
    blueprints: [new URL('../worst-inputs.blueprint.json', import.meta.url)],
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const { base, token } = candidate
    for (const field of worstFields)
      await call({ base, token }, 'POST', 'blueprintfields', { ...field, storage: 'worst' })
    await importDocuments(candidate, 'thousands', LISTED, listedDocument)
    const known = await openSenders(candidate)
    const control = await held(candidate, agent, known(worstControl))
    if (control.turn <= LONGEST_TURN_MS)
      throw new Error(
        `The control held the event loop for ${milliseconds(control.turn)}: nothing would be seen.`,
      )
    const found: Held[] = []
    for (const asked of all) {
      const input = known(asked)
      const times = [await held(candidate, agent, input)]
      while (times.length < TRIES && times.every(({ turn }) => turn > LONGEST_TURN_MS / 2))
        times.push(await held(candidate, agent, input))
      const turn = Math.min(...times.map((one) => one.turn))
      const wait = median(times.map((one) => one.wait))
      const usual = median(times.map((one) => one.turn))
      if (usual > LONGEST_TURN_MS)
        console.log(
          `  ${input.name}: ${milliseconds(turn)}, mostly ${milliseconds(usual)}, others waited ${milliseconds(wait)}`,
        )
      found.push({ name: input.name, turn, wait })
    }
    return reached(found.toSorted((a, b) => b.turn - a.turn))
  } finally {
    agent.destroy()
    await candidate.close()
  }
}

function reached(found: readonly Held[]): Reached {
  const tooLong = found.filter(({ turn }) => turn > LONGEST_TURN_MS)
  const named = found.slice(0, MOST_NAMED).map(({ name, turn }) => `${name} ${milliseconds(turn)}`)
  const others = found.length - tooLong.length
  const half = milliseconds(median(found.map(({ turn }) => turn)))
  const wait = milliseconds(Math.max(...found.map((one) => one.wait)))
  return {
    found: `${others} within ${LONGEST_TURN_MS} ms, half of all within ${half}; the longest: ${named.join(', ')}; another client waited ${wait} at most`,
    met: tooLong.length === 0,
  }
}

let asked = 0

/** While this is served, another client asks for a constant again and again. */
async function held(candidate: Candidate, agent: Agent, input: WorstInput): Promise<Held> {
  const { port } = candidate
  const state = { isServed: false, longest: 0 }
  asked += 1
  await candidate.report()
  const asking = (async () => {
    while (!state.isServed) {
      const began = performance.now()
      await constant(port, agent)
      state.longest = Math.max(state.longest, performance.now() - began)
    }
  })()
  // A failure is of the request beside it if both fail.
  asking.catch(() => undefined)
  try {
    await setTimeout(AROUND_MS)
    const status = await send(port, input)
    if (status === 500 || (status === 404 && !input.isAbsent))
      throw new Error(`It was answered with ${status}.`)
    await setTimeout(AROUND_MS)
    state.isServed = true
    await asking
    return { name: input.name, turn: Number(await candidate.report()), wait: state.longest }
  } catch (error) {
    state.isServed = true
    throw new Error(`This request failed, or the one beside it: ${input.name}.`, { cause: error })
  }
}

async function send(port: number, { path, method, body, isSite, headers = {} }: WorstInput): Promise<number> {
  const place = `${isSite ? '' : 'api/v1/'}${path.replace('{n}', String(asked))}`
  const sent = body?.replaceAll('{op}', asked % 2 === 0 ? 'remove' : 'add').replace('{n}', String(asked))
  const reply = await fetch(`http://127.0.0.1:${port}/${place}`, {
    redirect: 'manual',
    method,
    headers,
    ...(sent && { body: sent }),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  await reply.arrayBuffer()
  return reply.status
}
/** Gives inputs with the tokens of their senders, and with the guids that stand in their paths. */
async function openSenders({ base, token }: Candidate): Promise<(input: WorstInput) => WorstInput> {
  const api = { base, token }
  const tokens = new Map<string, string>()
  for (const [username, scopes] of Object.entries(worstSenders)) {
    await call(api, 'POST', 'users', { username, password: PASSWORD, custom_scopes: scopes })
    tokens.set(username, (await signIn(base, username, PASSWORD)).token)
  }
  for (const [name, scopes] of Object.entries(worstKeys)) {
    const publisher = { base, token: tokens.get('publisher') ?? '' }
    const made = await call(publisher, 'POST', 'users/me/keys', { name, scopes })
    if (isJsonObject(made)) tokens.set(name, String(made.key))
  }
  const { members, group } = await openProvisioned(api, tokens.get('provisioner') ?? '')
  const operations = members.map((value) => ({ op: '{op}', path: 'members', value: [{ value }] }))
  const connection = guidIn(await call(api, 'POST', '_system/connections', { name: 'worst', base_url: base }))
  const blueprints = await call(api, 'POST', 'blueprints/search', {})
  const first: unknown = Array.isArray(blueprints) ? blueprints[0] : undefined
  const storage = await storageGuid(api, 'worst')
  const blueprint = guidIn(first)
  return (input) => ({
    ...input,
    path: input.path
      .replace('{storage}', storage)
      .replace('{blueprint}', blueprint)
      .replace('{connection}', connection)
      .replace('{group}', group),
    ...(input.body !== undefined && {
      body: input.body
        .replace('{members}', () => JSON.stringify(members.map((value) => ({ value }))))
        .replace('{operations}', () => JSON.stringify(operations)),
    }),
    headers: { ...input.headers, ...(input.as && { authorization: `Bearer ${tokens.get(input.as)}` }) },
  })
}

/** As many users as one request of SCIM may name, a group for them, and a provider. */
async function openProvisioned(api: Pick<Candidate, 'base' | 'token'>, key: string) {
  const group = guidIn(
    await call(api, 'POST', '_system/authentication-groups', { name: 'worst', scopes: [] }),
  )
  const members: string[] = []
  for (let at = 0; at < MEMBERS; at++) members.push(await provisionedUser(api.base, key, `member-${at}`))
  const provider = { name: 'worst', title: 'Worst', issuer: 'http://127.0.0.1:9', client_id: 'worst' }
  await call(api, 'POST', '_system/signin-providers', provider)
  return { members, group }
}

/** SCIM changes no user of another kind. */
async function provisionedUser(base: string, key: string, userName: string): Promise<string> {
  const reply = await fetch(new URL('/scim/v2/Users', base), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ userName }),
  })
  const { id } = Object(await reply.json())
  if (typeof id !== 'string') throw new Error(`${userName} was answered with ${reply.status}.`)
  return id
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
