/**
 * A field is renamed and another one converted while clients write and the process is killed, again and again: whenever it runs, every
 * document has its value under the name that counts, and each write that was acknowledged is there at the end.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { callNode, manage, searchAll } from '../cluster/call-node.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, guidOf, objectOf, type RunningProcess, startProcess } from './harness.ts'

/** More than 1,000, for which the reply would wait. */
const DOCUMENTS = 2_000
const KILLS = 2
const WRITERS = 4

let temporary: TemporaryDatabase | undefined
let directory: string
let node: RunningProcess
let token: string
let isDown = false

const start = async () => {
  node = await startProcess(directory, {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_RATE_LIMIT: '0',
    ...(temporary && { DATABASE_URL: temporary.url, QUOIN_NODE: 'a' }),
  })
  isDown = false
}
const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue) =>
  callNode(node.address, path, { method, token, ...(body !== undefined && { body }) })

beforeAll(async () => {
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  directory = await mkdtemp(join(tmpdir(), 'quoin-migrated-'))
  await start()
  const body = { username: 'admin', password: adminPassword }
  const reply = await callNode(node.address, '/auth/signin', { method: 'POST', body })
  token = String(objectOf(reply.body).access_token)
})
afterAll(async () => {
  await node.end('SIGKILL')
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

interface Migrated {
  readonly storage: string
  readonly field: string
  readonly guids: readonly string[]
}

let count = 0
/** Documents `{ title: "0" }`, `{ title: "1" }`, … with a field of texts. */
async function filled(): Promise<Migrated> {
  const name = `migrated-${count++}`
  const made = await call('POST', '/_system/storages', { name })
  const field = await call('POST', '/blueprintfields', { storage: name, name: 'title', type: 'string' })
  const storage = `/_system/storages/${guidOf(objectOf(made.body))}/documents`
  const lines = Array.from({ length: DOCUMENTS }, (_, n) => JSON.stringify({ title: String(n) }))
  const imported = await fetch(`${node.address}/api/v1${storage}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  expect([imported.status, await imported.text()]).toEqual([200, `{"imported":${DOCUMENTS}}`])
  const documents = await searchAll(node.address, `${storage}/search`, token)
  return { storage, field: guidOf(objectOf(field.body)), guids: documents.map(guidOf) }
}

/** Writers that change documents of their own until they are stopped; gives what was acknowledged, by guid. */
function writing({ storage, guids }: Migrated, name: string, valueFor: (n: number) => JsonValue) {
  const acknowledged = new Map<string, JsonValue>()
  let isRunning = true
  const write = async (own: number) => {
    for (let n = own; isRunning; n += WRITERS) {
      // Every 17th document, so that many are written and most are not.
      const guid = guids[(n * 17) % guids.length] ?? ''
      const value = valueFor(n)
      if (isDown) await wait(20)
      else if ((await call('PUT', `${storage}/${guid}`, { [name]: value })).status === 200)
        acknowledged.set(guid, value)
      await wait(5)
    }
  }
  const writers = Promise.all(Array.from({ length: WRITERS }, (_, own) => write(own)))
  return async () => {
    isRunning = false
    await writers
    return acknowledged
  }
}

const record = async (field: string) =>
  objectOf((await manage(node.address, `/blueprintfields/${field}`, { token })).body)

/** Kills the process in the middle of the migration and starts it again. Gives whether there was one to interrupt. */
async function killed(field: string, ms: number): Promise<boolean> {
  await wait(ms)
  const { migration } = await record(field)
  isDown = true
  await node.end('SIGKILL')
  await start()
  return migration !== null
}

const all = ({ storage }: Migrated) => searchAll(node.address, `${storage}/search`, token)
const ended = (field: string) =>
  expect.poll(async () => (await record(field)).migration, { timeout: 120_000, interval: 100 }).toBe(null)

function expectValues(documents: readonly JsonObject[], requested: (guid: string) => JsonObject | undefined) {
  const wrong = documents.flatMap((document) => {
    const { _meta, ...fields } = document
    const expected = requested(guidOf(document))
    return expected !== undefined && JSON.stringify(fields) !== JSON.stringify(expected) ? [fields] : []
  })
  expect([documents.length, wrong.slice(0, 5)]).toEqual([DOCUMENTS, []])
}

test('a rename', async () => {
  const fixture = await filled()
  const begun = await call('PUT', `/blueprintfields/${fixture.field}`, { name: 'headline' })
  expect([begun.status, objectOf(begun.body).migration]).toEqual([200, expect.any(Object)])
  const stop = writing(fixture, 'headline', (n) => `${1_000_000 + n}`)
  let interrupted = 0
  for (let kill = 0; kill < KILLS; kill++) {
    if (await killed(fixture.field, 150 * kill)) interrupted += 1
    const before = String((await record(fixture.field)).name)
    const documents = await all(fixture)
    const after = String((await record(fixture.field)).name)
    const lacking = documents.filter((one) => one[before] === undefined && one[after] === undefined)
    expect([documents.length, lacking]).toEqual([DOCUMENTS, []])
  }
  const acknowledged = await stop()
  await ended(fixture.field)
  expect(interrupted).toBeGreaterThan(0)
  const documents = await all(fixture)
  expectValues(documents, (guid) => {
    const value = acknowledged.get(guid)
    return value === undefined ? undefined : { headline: value }
  })
  expect(documents.filter(({ title, headline }) => title !== undefined || headline === undefined)).toEqual([])
}, 240_000)

test('a conversion of texts to numbers', async () => {
  const fixture = await filled()
  const begun = await call('PUT', `/blueprintfields/${fixture.field}`, { type: 'integer' })
  expect([begun.status, objectOf(begun.body).migration]).toEqual([200, expect.any(Object)])
  const stop = writing(fixture, 'title', (n) => 1_000_000 + n)
  let interrupted = 0
  for (let kill = 0; kill < KILLS; kill++) if (await killed(fixture.field, 150 * kill)) interrupted += 1
  const acknowledged = await stop()
  await ended(fixture.field)
  expect(interrupted).toBeGreaterThan(0)
  const documents = await all(fixture)
  expectValues(documents, (guid) => {
    const title = acknowledged.get(guid)
    return title === undefined ? undefined : { title }
  })
  const wrong = documents.filter(({ title }) => !Number.isInteger(title))
  expect(wrong).toEqual([])
  const untouched = documents.flatMap(({ title }) => (Number(title) < DOCUMENTS ? [Number(title)] : []))
  expect(new Set(untouched).size).toBe(untouched.length)
}, 240_000)
