/** A change of many documents by a job, whose process ends with kill -9 again and again: each document is changed exactly once. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { guidSource } from '../../src/shared/guid.ts'
import type { JsonValue } from '../../src/shared/json.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, guidOf, objectOf, objectsOf, type RunningProcess, startProcess } from './harness.ts'

const DOCUMENTS = 6_000
const KILLS = 3

let directory: string
let settings: Record<string, string>
let drop: () => Promise<void> = async () => undefined
let quoin: RunningProcess
let token: string

const blocks = [
  { name: 'post', type: 'on_startup_register_uri_post', in_pins: [{ id: 'uri', value: 'raise' }] },
  {
    name: 'many',
    type: 'function_update_many',
    in_pins: [
      { id: 'flow', from: [{ block: 'post', pin: 'flow' }] },
      { id: 'storage', value: 'goods' },
      { id: 'where', expression: 'doc.n >= 0' },
      { id: 'set', expression: '{ price: increment(1) }' },
      { id: 'in_background', value: true },
    ],
  },
  {
    name: 'reply',
    type: 'httpconnection_set_json',
    in_pins: [
      { id: 'flow', from: [{ block: 'many', pin: 'flow' }] },
      { id: 'value', expression: '{ job: many.job, count: many.count }', refs: { many: 'many' } },
    ],
  },
]

async function start(engine: string): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const database = engine === 'postgres' ? await openTemporaryDatabase() : undefined
  drop = async () => database?.drop()
  settings = {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_RATE_LIMIT: '0',
    ...(database && { DATABASE_URL: database.url }),
  }
  quoin = await startProcess(directory, settings)
}

afterEach(async () => {
  await quoin.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
  await drop()
})

async function call(method: string, path: string, body?: JsonValue): Promise<JsonValue> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(`${quoin.address}/api/v1${path}`, { method, headers, ...sent })
  const text = await reply.text()
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function signIn(): Promise<void> {
  token = ''
  token = String(
    objectOf(await call('POST', '/auth/signin', { username: 'admin', password: adminPassword })).access_token,
  )
}

async function install(): Promise<void> {
  const blueprint = guidOf(await call('POST', '/blueprints', { name: 'Raise' }))
  const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))
  const guids = new Map(blocks.map(({ name }) => [name, newGuid()]))
  const text = JSON.stringify(blocks).replace(/"(block|many)":"(\w+)"/g, (_all, key: string, name: string) =>
    JSON.stringify({ [key]: guids.get(name) ?? name }).slice(1, -1),
  )
  const edits = objectsOf(JSON.parse(text)).map((block) => ({
    guid: guids.get(String(block.name)) ?? '',
    update_hash: null,
    content: {
      title: '',
      description: '',
      position: { x: 0, y: 0 },
      custom_out_pins: [],
      fields: {},
      scopes: ['*public'],
      ...block,
    },
  }))
  await call('POST', `/blueprints/${blueprint}/edits`, { edits })
  await call('POST', `/blueprintactions/unsaved/${blueprint}`)
  await call('PUT', `/blueprints/update/set/active/${blueprint}`)
}

test.each(['sqlite', 'postgres'])(
  'each document is changed once, however often the process ends, on %s',
  async (engine) => {
    await start(engine)
    await signIn()
    const storage = guidOf(await call('POST', '/_system/storages', { name: 'goods' }))
    const lines = Array.from({ length: DOCUMENTS }, (_, n) => JSON.stringify({ n, price: 0 })).join('\n')
    const imported = await fetch(`${quoin.address}/api/v1/_system/storages/${storage}/documents/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` },
      body: lines,
    })
    expect(imported.status, await imported.text()).toBe(200)
    await install()
    const { job, count } = objectOf(await call('POST', '/raise', {}))
    expect(count).toBe(DOCUMENTS)
    const progress = async () =>
      objectOf(objectOf(await call('GET', `/queue/${String(job)}`)).progress ?? { done: 0, finished: false })
    const seen: number[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      // Lost in the middle of a batch, most likely.
      const before = seen.at(-1) ?? 0
      let now = await progress()
      while (Number(now.done) <= before && now.finished !== true) now = await progress()
      expect(await quoin.end('SIGKILL')).toBe('SIGKILL')
      quoin = await startProcess(directory, settings)
      seen.push(Number((await progress()).done))
    }
    // Else nothing was proved.
    expect(seen[0]).toBeLessThan(DOCUMENTS)
    for (let second = 0; second < 120 && (await progress()).finished !== true; second++) await wait(1_000)
    expect(await progress()).toMatchObject({
      done: DOCUMENTS,
      changed: DOCUMENTS,
      refused: 0,
      finished: true,
    })
    const prices = async (price: number) =>
      objectOf(
        await call('POST', `/_system/storages/${storage}/documents/search`, {
          filters: { price },
          count: true,
        }),
      ).count
    expect([await prices(0), await prices(1), await prices(2)]).toEqual([0, DOCUMENTS, 0])
  },
  300_000,
)
