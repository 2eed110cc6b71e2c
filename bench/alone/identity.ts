/** What identity costs: a passkey against a password, OpenTelemetry against none, and a thousand spaces against none. In processor time and in turns. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, openAccess } from '../../src/access/access.ts'
import type { Identity } from '../../src/access/identity-cache.ts'
import { signingSecret } from '../../src/records/secrets/signing-secret.ts'
import { openSqliteDatabase } from '../../src/storage/sqlite/core/sqlite-database.ts'
import { softwareAuthenticator } from '../../test/software-authenticator.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { type CostlyRequest, costInTurns, type NamedServer } from '../cost-in-turns.ts'
import { call } from '../management-api.ts'
import { ask } from '../requests.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

const SIGN_INS = 10
const MOST_PASSKEY = 2
const ORIGIN = 'https://club.example.com'
const PASSWORD = 'correct horse battery'
const ip = '192.0.2.1'
const browser = 'the cookie of a browser'

const passkey: Goal = {
  id: 'passkey',
  title: 'sign-in with a passkey against one with a password, processor time on SQLite',
  goal: `at most ${MOST_PASSKEY} times`,
  measure: measurePasskey,
}

async function measurePasskey({ rounds }: GoalTiming): Promise<Reached> {
  const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
  const directory = await mkdtemp(join(tmpdir(), 'quoin-sign-in-'))
  const database = await openSqliteDatabase({
    ...{ directory, clock: Date.now, random, entity: 1 },
    synchronous: 'OFF',
  })
  try {
    const access = await openAccess({
      ...{ database, clock: Date.now, random, secret: signingSecret(Buffer.alloc(32, 1)) },
      settings: {
        ...{ lockoutAttempts: 10, lockoutSeconds: 900, addressAttempts: 100, tokenSeconds: 86_400 },
        publicUrl: ORIGIN,
      },
    })
    const times = await signInTimes(access, rounds)
    await access.close()
    const ratio = median(times.map((one) => one.passkey / one.password))
    const shown = (of: 'password' | 'passkey') => milliseconds(median(times.map((one) => one[of])))
    return {
      found: `${ratio.toFixed(2)} times (passkey ${shown('passkey')}, password ${shown('password')})`,
      met: ratio <= MOST_PASSKEY,
    }
  } finally {
    await database.close()
    await rm(directory, { recursive: true })
  }
}

/** Milliseconds of processor time for each piece of work. */
async function processorTime(works: readonly (() => Promise<unknown>)[]): Promise<number> {
  const before = process.cpuUsage()
  for (const work of works) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / works.length
}

async function identity(access: Access, username: string): Promise<Identity> {
  const { access_token } = await access.signIn({ username, password: PASSWORD, ip })
  const found = await access.identify(access_token)
  if (!found) throw new Error(`${username} is not signed in.`)
  return found
}

async function signInTimes(access: Access, most: number) {
  await access.ensureAdministrator(PASSWORD)
  const admin = await identity(access, 'admin')
  for (const username of ['ada', 'bob']) await access.createUser({ username, password: PASSWORD }, admin)
  const ada = await identity(access, 'ada')
  const authenticator = softwareAuthenticator({ origin: ORIGIN, host: new URL(ORIGIN).host, counts: true })
  const { passkey: own, sent } = authenticator.create(await access.passkeys.toAdd(ada))
  await access.passkeys.add(ada, { name: 'Laptop', passkey: sent })
  const rounds: { readonly password: number; readonly passkey: number }[] = []
  // The first round loads the library, and is left out.
  for (let round = 0; round <= most; round++) {
    const answers = Array.from({ length: SIGN_INS }, () => own.get(access.passkeys.toSignIn(browser)))
    const byPassword = answers.map(() => () => access.signIn({ username: 'bob', password: PASSWORD, ip }))
    const byPasskey = answers.map((one) => () => access.passkeys.signIn({ passkey: one, browser, ip }))
    const took = { password: await processorTime(byPassword), passkey: await processorTime(byPasskey) }
    if (round > 0) rounds.push(took)
  }
  return rounds
}

const LEAST_TRACED = 0.95

const telemetry: Goal = {
  id: 'telemetry',
  title: 'requests with OpenTelemetry on, nothing and one in a hundred sampled, against none of it',
  goal: `at least ${LEAST_TRACED} of the requests that a core serves`,
  measure: measureTelemetry,
}

/** Of servers that share nothing with the machine but its cores. */
async function compared(
  servers: readonly NamedServer[],
  requests: readonly CostlyRequest[],
  { rounds }: GoalTiming,
  least: number,
): Promise<Reached> {
  const found: string[] = []
  let met = true
  for (const one of requests) {
    const [base, ...others] = await costInTurns(servers, one, 4 * rounds + 1)
    if (others.some(({ ratio }) => ratio < least)) met = false
    const ratios = others.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`)
    found.push(`${one.label} (${base?.microseconds.toFixed(0)} µs): ${ratios.join(', ')}`)
  }
  return { found: found.join('; '), met }
}

const constant: CostlyRequest = {
  ...{ label: 'GET, cached reply', count: 10_000 },
  ask: () => ask({ path: 'bench/constant' }),
}

async function measureTelemetry(timing: GoalTiming): Promise<Reached> {
  const collector = createServer((asked, response) => {
    asked.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  if (address === null || typeof address === 'string') throw new TypeError('The collector has no port.')
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${address.port}`
  const servers: NamedServer[] = []
  const stops: (() => Promise<void>)[] = []
  try {
    for (const [name, settings] of [
      ['without', {}],
      ['nothing sampled', { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0' }],
      ['1 % sampled', { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0.01' }],
    ] as const) {
      const server = await startQuoin({ core: timing.core, settings })
      stops.push(server.close)
      servers.push({ name, server })
    }
    const create = (token: string) =>
      ask({ method: 'POST', path: 'tasks', token, body: '{"title":"Tea"}', expected: 201 })
    const posted = { label: 'POST, creates a document', count: 2_000, ask: create }
    return await compared(servers, [constant, posted], timing, LEAST_TRACED)
  } finally {
    for (const stop of stops) await stop()
    collector.close()
  }
}

const SPACES = 1_000
const MOST_WITH_SPACES = 1.1

const spaces: Goal = {
  id: 'spaces',
  title: `a request with ${SPACES.toLocaleString('en')} spaces, outside of them and in one, against a cluster without spaces`,
  goal: `at most ${MOST_WITH_SPACES} times the processor time`,
  measure: measureSpaces,
}

async function measureSpaces(timing: GoalTiming): Promise<Reached> {
  const servers: Candidate[] = []
  try {
    for (let count = 0; count < 2; count++) servers.push(await startQuoin({ core: timing.core }))
    const [without, having] = servers
    if (!without || !having) throw new Error('There are two servers.')
    for (let at = 0; at < SPACES; at++)
      await call(having, 'POST', '_system/spaces', {
        ...{ name: `space-${at}`, hosts: [hostOf(at)], password: PASSWORD },
      })
    const host = hostOf(SPACES - 1)
    const inSpace = { pid: having.pid, port: having.port, token: await tokenIn(having.port, host) }
    const own: CostlyRequest = {
      ...{ label: 'GET users/me', count: 3_000 },
      ask: (token, to) => ask({ path: 'users/me', token, host: to }),
    }
    return await compared(
      [
        { name: 'without spaces', server: without },
        { name: 'outside of the spaces', server: having },
        { name: 'in a space', server: inSpace, host },
      ],
      [own],
      timing,
      1 / MOST_WITH_SPACES,
    )
  } finally {
    for (const one of servers) await one.close()
  }
}

const hostOf = (at: number) => `space-${at}.example.org`

/** Of its administrator. A host is no part of what `fetch` sends. */
function tokenIn(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' }
    const path = '/api/v1/auth/signin'
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      reply.on('end', () => {
        const { access_token: token } = Object(JSON.parse(text))
        if (typeof token === 'string') resolve(token)
        else reject(new Error(`The sign-in in a space was answered with ${text.slice(0, 200)}`))
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ username: 'admin', password: PASSWORD }))
  })
}

/** The last one takes minutes. */
export const identityGoals: readonly Goal[] = [passkey, telemetry, spaces]
