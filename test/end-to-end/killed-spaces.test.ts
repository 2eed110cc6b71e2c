/** The process is killed while two spaces are open and have jobs: each acknowledged document is there, and each job ends, with no visitor. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, guidOf, objectOf, objectsOf, type RunningProcess, startProcess } from './harness.ts'
import { type Asked, askAt, type TestSpace, testSpace } from './space-fixture.ts'

const NAMES = ['red', 'blue']
const CONNECTIONS = 4
const ACKNOWLEDGED = 20

let temporary: TemporaryDatabase | undefined
let directory: string
let node: RunningProcess
let operator: TestSpace
let spaces: readonly TestSpace[]

const start = () =>
  startProcess(directory, {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_RATE_LIMIT: '0',
    QUOIN_EXAMPLES: '0',
    ...(temporary && { DATABASE_URL: temporary.url }),
  })
/** Of the process that runs at present. */
const ask: Asked = (...asked) => askAt(Number(new URL(node.address).port))(...asked)
const at = (guid: string, host: string) =>
  testSpace(guid, host, ask, () => Promise.reject(new Error('It is in another process.')))

beforeAll(async () => {
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  node = await start()
  operator = at('', '127.0.0.1')
  spaces = await Promise.all(NAMES.map(make))
}, 120_000)
afterAll(async () => {
  // Their databases on PostgreSQL, which no run of the tests would find again.
  for (const [i, { guid }] of spaces.entries())
    await operator.manage('DELETE', `/_system/spaces/${guid}?confirm=${NAMES[i]}`)
  await node.end('SIGKILL')
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
}, 120_000)

/** A document is added by a request, and handled by a job. */
const application: JsonObject = {
  about: { name: 'notes', version: '1' },
  blueprints: {
    notes: {
      name: 'Notes',
      blocks: {
        on: { type: 'on_startup_register_uri_post', in: { uri: 'notes' }, scopes: ['*public'] },
        create: {
          type: 'function_create_document_from_mutations',
          in: { flow: '@on.flow', storage: 'notes', set: '=({ text: body.text })' },
        },
        reply: { type: 'reply', in: { flow: '@create.flow', value: '@create.document' } },
        added: { type: 'storage_event', in: { storage: 'notes', events: ['on_created'] } },
        handle: {
          type: 'function_create_document_from_mutations',
          in: { flow: '@added.flow', storage: 'handled', set: '=({ text: added.document.text })' },
        },
      },
    },
  },
  storages: {
    notes: { fields: { text: { type: 'string', unique: true } } },
    handled: { fields: { text: { type: 'string' } } },
  },
  ...{ groups: {}, templates: {}, seed: {}, tests: {} },
}

async function make(name: string): Promise<TestSpace> {
  const host = `${name}.example.test`
  const body = { name, hosts: [host], password: adminPassword }
  const space = at(guidOf(objectOf(await operator.manage('POST', '/_system/spaces', body)).space), host)
  const planned = objectOf(await space.manage('POST', '/_system/applications/plan', { application }))
  await space.manage('POST', '/_system/applications/push', { application, state: planned.state ?? '' })
  return space
}

/** Adds documents until the process is gone. Gives the texts that were acknowledged. */
async function storm(): Promise<readonly string[][]> {
  const acknowledged: string[][] = spaces.map(() => [])
  let killed = false
  const add = async (space: TestSpace, texts: string[], connection: number) => {
    for (let count = 0; !killed; count++) {
      const text = `${space.host} ${connection} ${count}`
      try {
        const { status } = await space.send('POST', '/notes', { body: { text } })
        expect(status).toBe(200)
        texts.push(text)
        if (acknowledged.some((one) => one.length < ACKNOWLEDGED) || killed) continue
        killed = true
        expect(await node.end('SIGKILL')).toBe('SIGKILL')
      } catch (error) {
        // What breaks since the process is gone is expected.
        if (!killed) throw error
      }
    }
  }
  await Promise.all(
    spaces.flatMap((space, i) =>
      Array.from({ length: CONNECTIONS }, (_, connection) => add(space, acknowledged[i] ?? [], connection)),
    ),
  )
  return acknowledged
}

const textsOf = (documents: JsonValue) => objectsOf(documents).map(({ text }) => String(text))

test('after a kill both are opened by themselves, lack nothing that was acknowledged, and end each job', async () => {
  const listed = async () => objectsOf(await operator.manage('POST', '/_system/spaces/search', {}))
  const hashOf = (space: JsonObject) => objectOf(space._meta).update_hash
  const before = new Map((await listed()).map((space) => [guidOf(space), hashOf(space)]))
  const acknowledged = await storm()
  node = await start()
  // By this process: what the killed one left says so too, until it is changed.
  const opened = async () =>
    (await listed()).map((space) => space.open === true && hashOf(space) !== before.get(guidOf(space)))
  // No request asks for one before.
  await expect.poll(opened, { timeout: 60_000 }).toEqual([true, true])
  for (const [i, space] of spaces.entries()) {
    const all = async (storage: string) =>
      textsOf(
        await space.manage('POST', `/_system/storages/${storage}/documents/search`, { limit: 1000 }),
      ).toSorted()
    const statuses = async () =>
      objectsOf(await space.manage('POST', '/queue/search', { filters: { type: 'event' }, limit: 1000 })).map(
        ({ status }) => status,
      )
    const notes = await all('notes')
    expect(acknowledged[i]?.filter((text) => !notes.includes(text))).toEqual([])
    expect(notes.filter((text) => !text.startsWith(space.host))).toEqual([])
    await expect.poll(statuses, { timeout: 60_000 }).toEqual(notes.map(() => 'done'))
    expect(await all('handled')).toEqual(notes)
  }
}, 180_000)

const previews = async () => objectsOf(await operator.manage('GET', '/_system/previews'))
const states = async () => (await previews()).map(({ state }) => state).join()
const spacesLeft = async () =>
  objectsOf(await operator.manage('POST', '/_system/spaces/search', {})).map(({ name }) => name)

test('a preview that was being made or removed at a kill is gone after it, with nothing of it left', async () => {
  const make = () => operator.manage('POST', '/_system/previews', { name: 'draft', application })
  const killed = async (underWay: Promise<unknown>, state: RegExp) => {
    const ended = underWay.catch(() => undefined)
    await expect.poll(states, { timeout: 30_000, interval: 5 }).toMatch(state)
    expect(await node.end('SIGKILL')).toBe('SIGKILL')
    await ended
    node = await start()
    // One that was made by the time of the kill stays.
    if ((await states()) === 'active') await operator.manage('DELETE', '/_system/previews/draft')
    await expect.poll(previews, { timeout: 60_000 }).toEqual([])
    expect((await spacesLeft()).toSorted()).toEqual([...NAMES].sort())
  }
  await killed(make(), /^(?:creating|active)$/)
  await make()
  expect((await ask('127.0.0.1', 'POST', '/~draft/api/v1/notes', json, { text: 'draft' })).status).toBe(200)
  await killed(operator.manage('DELETE', '/_system/previews/draft'), /^(?:removing)?$/)
  expect((await ask('127.0.0.1', 'POST', '/~draft/api/v1/notes', json, { text: 'draft' })).status).toBe(404)
  await make()
  await operator.manage('DELETE', '/_system/previews/draft')
  expect(await previews()).toEqual([])
}, 180_000)

const json = { 'content-type': 'application/json' }
