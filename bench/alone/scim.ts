/** SCIM where as many users as a large company has are all in one group: what a request takes, how long it holds the event loop, and memory. */

import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonValue } from '../../src/shared/json.ts'
import { openPostgresDatabase } from '../../src/storage/postgres/core/postgres-database.ts'
import { openSqliteDatabase } from '../../src/storage/sqlite/core/sqlite-database.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { LONGEST_TURN_MS } from '../../test/turn-guard.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { fillStorage, vacuum } from '../engine-database.ts'
import { MIB } from '../large-bodies.ts'
import { call, guidIn, signIn } from '../management-api.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { forgetPeak, memoryOf } from '../process-memory.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

const SCOPES = ['scim_view', 'scim_create', 'scim_update', 'scim_remove']
const PASSWORD = 'a long password of the benchmark'
/** That one request of SCIM may name. */
const MOST_MEMBERS = 1_000
/** Of a search that is not far below the limit at once: other work on the machine only adds time. */
const TRIES = 5
/** With their turns. */
const MOST_NAMED = 6

/** PostgreSQL takes minutes for a million. */
export const scimGoals: readonly Goal[] = [goalOf(1_000_000, ''), goalOf(100_000, '-postgres')]

/** The same with so many members: with a few thousand it is tried out in half a minute. */
function goalOf(members: number, engine: '' | '-postgres'): Goal {
  return {
    id: `scim${engine}`,
    title: `SCIM with a group of ${members.toLocaleString('en-US')} members${engine && ', on PostgreSQL'}`,
    goal: `one turn of the event loop takes at most ${LONGEST_TURN_MS} ms of processor time`,
    measure: async (timing) => {
      if (engine === '') return measure(timing, members, undefined)
      const server = await openMeasuredPostgres()
      try {
        return await measure(timing, members, server.url('postgres'))
      } finally {
        await server.close()
      }
    },
  }
}

async function measure({ core }: GoalTiming, count: number, url: string | undefined): Promise<Reached> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-scim-'))
  const settings = { QUOIN_PUBLIC_URL: 'http://localhost', ...(url !== undefined && { DATABASE_URL: url }) }
  const start = { core, folder, settings, password: PASSWORD, installs: false }
  try {
    const empty = await startQuoin(start)
    const made = await openDirectory(empty).finally(() => empty.close())
    const began = performance.now()
    await fill(folder, url, count, made.group)
    console.log(`  ${count} users after ${milliseconds(performance.now() - began)}`)
    const full = await startQuoin({ ...start, reports: 'turns' })
    try {
      return await measureRequests(full, made)
    } finally {
      await full.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Directory {
  readonly key: string
  /** Of all users. */
  readonly group: string
}

async function openDirectory({ base, token }: Candidate): Promise<Directory> {
  const user = { username: 'directory', password: PASSWORD, custom_scopes: SCOPES }
  await call({ base, token }, 'POST', 'users', user)
  const own = { base, token: (await signIn(base, user.username, PASSWORD)).token }
  const made = await call(own, 'POST', 'users/me/keys', { name: 'directory', scopes: SCOPES })
  const group = await call({ base, token }, 'POST', '_system/authentication-groups', { name: 'everyone' })
  return { key: isJsonObject(made) ? String(made.key) : '', group: guidIn(group) }
}

async function fill(directory: string, url: string | undefined, count: number, group: string): Promise<void> {
  const common = { clock: Date.now, random: randomFillSync, entity: 2 }
  const database =
    url === undefined
      ? await openSqliteDatabase({ ...common, directory, synchronous: 'OFF' })
      : await openPostgresDatabase({
          ...{ ...common, url, connections: 4, node: { name: 'bench', version: '0.0.0' } },
          ...{ monotonic: () => performance.now(), wall: Date.now, load: () => 0 },
        })
  try {
    await fillStorage(database, systemStorages.users, count, (at) => {
      const name = `person-${at}@example.com`
      return {
        ...{ username: name, username_key: name, email: name, email_key: name, external_id: `e${at}` },
        ...{ firstname: `First ${at}`, lastname: `Last ${at % 1_000}`, language: 'en', timezone: 'UTC' },
        ...{ is_active: true, custom_scopes: [], groups: [group] },
      }
    })
  } finally {
    await database.close()
  }
  if (url !== undefined) await vacuum(url)
}

interface Asked {
  readonly name: string
  readonly method: 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: JsonValue
  readonly status?: number
}

const patch = (op: 'add' | 'remove' | 'replace', members: readonly string[]) => ({
  Operations: [{ op, path: 'members', value: members.map((value) => ({ value })) }],
})
const filtered = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`

function requests(group: string, some: readonly string[]): readonly Asked[] {
  const [one = ''] = some
  const [path, method] = [`/Groups/${group}`, 'GET'] as const
  const named = { displayName: 'everyone' }
  return [
    { name: 'a page of users', method, path: '/Users' },
    { name: 'a page far behind', method, path: '/Users?startIndex=999{n}&count=200' },
    { name: 'a page by cursor', method, path: '/Users?cursor=&count=200' },
    { name: 'userName eq', method, path: filtered('userName eq "person-77@example.com"') },
    { name: 'externalId eq', method, path: filtered('externalId eq "e77"') },
    { name: 'userName sw', method, path: filtered('userName sw "person-77"') },
    { name: 'active eq', method, path: filtered('active eq true and userName ne "{n}"') },
    { name: 'groups eq', method, path: filtered(`groups eq "${group}"`) },
    { name: 'name.familyName eq', method, path: filtered('name.familyName eq "last {n}"') },
    { name: 'userName co', method, path: filtered('userName co "son-7{n}"') },
    {
      name: 'five times co',
      method,
      path: filtered(
        ['a{n}', 'b{n}', 'c{n}', 'd{n}', 'e{n}'].map((text) => `userName co "${text}"`).join(' or '),
      ),
    },
    { name: 'the group', method, path },
    { name: 'the group without members', method, path: `${path}?excludedAttributes=members` },
    { name: 'members by cursor', method, path: `${path}?cursor=&count=200` },
    { name: 'a page of groups', method, path: '/Groups' },
    { name: 'remove a member', method: 'PATCH', path, body: patch('remove', [one]), status: 204 },
    { name: 'add a member', method: 'PATCH', path, body: patch('add', [one]), status: 204 },
    { name: 'remove 1,000', method: 'PATCH', path, body: patch('remove', some), status: 204 },
    { name: 'add 1,000', method: 'PATCH', path, body: patch('add', some), status: 204 },
    { name: 'replace all members', method: 'PATCH', path, body: patch('replace', [one]), status: 400 },
    {
      name: 'PUT with one member',
      method: 'PUT',
      path,
      body: { ...named, members: [{ value: one }] },
      status: 400,
    },
    { name: 'create a user', method: 'POST', path: '/Users', body: { userName: 'new' }, status: 201 },
    {
      name: 'deactivate a user',
      method: 'PATCH',
      path: `/Users/${one}`,
      body: { Operations: [{ op: 'replace', path: 'active', value: false }] },
    },
    { name: 'DELETE of a user', method: 'DELETE', path: `/Users/${one}`, status: 204 },
    { name: 'DELETE of the group', method: 'DELETE', path, status: 204 },
    { name: 'the group is gone', method, path, status: 404 },
  ]
}

interface Measured {
  readonly name: string
  readonly took: number
  readonly turn: number
}

async function measureRequests(candidate: Candidate, { key, group }: Directory): Promise<Reached> {
  const some: string[] = []
  for (let start = 1; start <= MOST_MEMBERS; start += 200) {
    const path = `/Groups/${group}?count=200&startIndex=${start}`
    const page = JSON.parse(await send(candidate, key, { name: 'members', method: 'GET', path }))
    for (const { value } of page.members) some.push(String(value))
  }
  const found: Measured[] = []
  const megabytes = () => (memoryOf(candidate.pid)?.peak ?? Number.NaN) / MIB
  forgetPeak(candidate.pid)
  const before = megabytes()
  for (const asked of requests(group, some)) {
    const tries = [await measureOne(candidate, key, asked)]
    while (asked.method === 'GET' && tries.length < TRIES && tries.every(isLong)) {
      tries.push(await measureOne(candidate, key, asked, tries.length))
    }
    const [name, took] = [asked.name, Math.min(...tries.map((one) => one.took))]
    found.push({ name, took, turn: Math.min(...tries.map((one) => one.turn)) })
    console.log(
      `  ${tries.map(({ took, turn }) => `${name} ${milliseconds(took)}, turn ${milliseconds(turn)}`).join('; ')}`,
    )
  }
  return reached(found, `${before.toFixed(0)} to ${megabytes().toFixed(0)} MB`)
}

function reached(found: readonly Measured[], memory: string): Reached {
  const longest = found.toSorted((one, other) => other.turn - one.turn).slice(0, MOST_NAMED)
  const times = found.map(({ name, took }) => `${name} ${milliseconds(took)}`)
  const turns = longest.map(({ name, turn }) => `${name} ${milliseconds(turn)}`)
  return {
    found: `${times.join(', ')}; the longest turns: ${turns.join(', ')}; ${memory} of memory`,
    met: longest.every(({ turn }) => turn <= LONGEST_TURN_MS),
  }
}

const isLong = ({ turn }: Measured) => turn > LONGEST_TURN_MS / 2

/** `{n}` stands for a number of each try, or its answer would be known. */
async function measureOne(candidate: Candidate, key: string, asked: Asked, number = 0): Promise<Measured> {
  const path = asked.path.replaceAll(/{n}|%7Bn%7D/g, String(number))
  await candidate.report()
  const began = performance.now()
  await send(candidate, key, { ...asked, path })
  const took = performance.now() - began
  return { name: asked.name, took, turn: Number(await candidate.report()) }
}

function send(
  { port }: Candidate,
  key: string,
  { name, method, path, body, status = 200 }: Asked,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/scim+json' }
    const sent = request({ port, host: '127.0.0.1', method, path: `/scim/v2${path}`, headers }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      reply.on('end', () => {
        if (reply.statusCode === status) resolve(text)
        else reject(new Error(`${name} was answered with ${reply.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
