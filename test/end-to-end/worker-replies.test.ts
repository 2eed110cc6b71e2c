/** QUOIN_WORKERS: replies are kept in every process, and none is sent after a write that was acknowledged. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { openWorkerRoom, type WorkerRoom } from './worker-room.ts'

const open = { scopes: ['*public'] }
/** Lists notes of a kind, gives one, and makes one. */
const notes: JsonObject = {
  notes: { type: 'storage', fields: { storage: 'notes' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'notes' }, ...open },
  kind: { type: 'httpconnection_get_params', in: { connection: '@list.connection', field: 'kind' } },
  of_kind: { type: 'query_bool_term_fields', in: { field: 'kind', value: '@kind.value' } },
  search: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: '@notes.storage', query: '@of_kind.query', limit: 1000 },
  },
  listed: {
    type: 'httpconnection_set_json',
    in: { flow: '@search.flow', value: '@search.documents' },
  },
  one: { type: 'on_startup_register_uri_get', in: { uri: 'notes/{guid}' }, ...open },
  guid: { type: 'httpconnection_get_params', in: { connection: '@one.connection', field: 'guid' } },
  get: {
    type: 'function_get_document',
    in: { flow: '@one.flow', storage: '@notes.storage', guid: '@guid.value' },
  },
  got: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@get.document' } },
  add: { type: 'on_startup_register_uri_post', in: { uri: 'notes' }, ...open },
  fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { object: '@add.body' },
    fields: { fields: ['kind', 'n'] },
  },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: '@notes.storage', mutations: '@fields.mutations' },
  },
  created: {
    type: 'httpconnection_set_json',
    in: { flow: '@create.flow', value: '@create.document', code: 201 },
  },
}

/** Looks at who asks, so that its reply cannot be kept. */
const unkept: JsonObject = {
  who: { type: 'on_startup_register_uri_get', in: { uri: 'who' }, ...open },
  user: { type: 'user_current' },
  find: { type: 'function_search', in: { flow: '@who.flow', storage: '@notes.storage' } },
  asker: {
    type: 'object_new_fields',
    fields: { fields: ['user', 'notes'] },
    in: { user: '@user.user', notes: '@find.documents' },
  },
  told: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@asker.object' } },
}

let room: WorkerRoom
beforeAll(async () => {
  room = await openWorkerRoom({ QUOIN_WORKERS: '2', QUOIN_RATE_LIMIT: '0' })
  await room.install('Notes', { ...notes, ...unkept })
}, 60_000)
afterAll(() => room.close())

/** Blocks that all processes have executed together. */
async function executed(): Promise<number> {
  const text = await (await fetch(`${room.process.address}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith('quoin_blocks_executed_total'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function executedBy(work: () => Promise<unknown>): Promise<number> {
  const before = await executed()
  await work()
  return (await executed()) - before
}

async function add(kind: string, n: number): Promise<string> {
  const made = await room.connect().call('POST', '/notes', { body: { kind, n } })
  expect(made.status).toBe(201)
  return guidOf(made.body)
}

/** 100 times, on connections that are spread over all processes. */
async function hundred(path: string): Promise<void> {
  const { connections } = room
  for (let round = 0; round < 100; round++) {
    const reply = await connections[round % connections.length]?.call('GET', path)
    expect(reply?.status).toBe(200)
  }
}

test('100 equal GETs execute nothing, in the process that reads as in the one that writes', async () => {
  const guid = await add('kept', 1)
  for (const path of ['/notes?kind=kept', `/notes/${guid}`]) {
    // The first time it is asked for, the second time it is kept; each process has had both then.
    for (let round = 0; round < 2; round++) await room.everywhere(path)
    expect([path, await executedBy(() => hundred(path))]).toEqual([path, 0])
  }
})

test('control: a flow that looks at who asks is executed each time', async () => {
  for (let round = 0; round < 2; round++) await room.everywhere('/who')
  expect(await executedBy(() => hundred('/who'))).toBeGreaterThanOrEqual(100)
})

test('a write is in the next reply of every process', async () => {
  const path = '/notes?kind=fresh'
  for (let n = 1; n <= 10; n++) {
    for (let round = 0; round < 2; round++) await room.everywhere(path)
    await add('fresh', n)
    const lists = (await room.everywhere(path)).map(({ body }) => objectsOf(body).length)
    expect(lists).toEqual(room.connections.map(() => n))
  }
})

test('writes while processes judge what they keep: each list holds what was acknowledged before it was asked for', async () => {
  const path = '/notes?kind=busy'
  let acknowledged = 0
  let writing = true
  const write = async () => {
    for (let n = 1; n <= 150; n++) {
      await add('busy', n)
      acknowledged = n
    }
    writing = false
  }
  const missing: number[] = []
  let asked = 0
  const ask = async (connection: (typeof room.connections)[number]) => {
    while (writing) {
      const before = acknowledged
      const { body } = await connection.call('GET', path)
      asked += 1
      if (objectsOf(body).length < before) missing.push(before)
    }
  }
  await Promise.all([write(), ...room.connections.slice(0, 8).map(ask)])
  expect(missing).toEqual([])
  expect(asked).toBeGreaterThan(100)
}, 60_000)

test('a file is the same from each process', async () => {
  await room.install('files', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'files/{file}' }, ...open },
    file: { type: 'reply', in: { flow: '@get.flow', value: '=params.file' }, fields: { kind: 'file' } },
  })
  const form = new FormData()
  form.append('file', new Blob(['[1, 2]'], { type: 'application/json' }), 'list.json')
  const headers = { authorization: `Bearer ${room.token}` }
  const address = `${room.process.address}/api/v1`
  await fetch(`${address}/_system/assets/stream`, { method: 'POST', headers, body: form })
  for (const reply of await room.everywhere('/files/list.json'))
    expect(reply).toEqual({ status: 200, body: [1, 2] })
  for (const reply of await room.everywhere('/files/other.json')) expect(reply.status).toBe(404)
})

test('two users who ask the same address in turn, on every process, get what the rules show to each', async () => {
  const storage = guidOf(
    await room.manage('POST', '/_system/storages', {
      name: 'own',
      rules: { see: 'doc.owner == user.username' },
    }),
  )
  await room.install('Own', {
    own: { type: 'on_startup_register_resource', in: { uri: 'own', storage: 'own' }, ...open },
  })
  const tokens: string[] = []
  for (const username of ['ann', 'bob']) {
    const password = `the password of ${username}`
    await room.manage('POST', '/users', { username, password, custom_scopes: [] })
    await room.manage('POST', '/own', { owner: username })
    const signed = await room.manage('POST', '/auth/signin', { username, password })
    tokens.push(String(objectOf(signed).access_token))
  }
  const seen = async (token?: string) =>
    (await room.everywhere('/own', token)).map(({ body }) => objectsOf(body).map(({ owner }) => owner))
  const same = (owners: readonly string[]) => room.connections.map(() => owners)
  for (const _ of [1, 2, 3]) {
    expect(await seen(tokens[0])).toEqual(same(['ann']))
    expect(await seen(tokens[1])).toEqual(same(['bob']))
    expect(await seen(room.token)).toEqual(same(['bob', 'ann']))
    expect(await seen()).toEqual(same([]))
  }
  // At once, on every process; and as soon as they are back.
  for (const rules of [null, { see: 'doc.owner == user.username' }, null]) {
    await room.manage('PUT', `/_system/storages/${storage}`, { rules })
    const expected = rules === null ? ['bob', 'ann'] : ['bob']
    for (const _ of [1, 2, 3]) expect(await seen(tokens[1])).toEqual(same(expected))
  }
})
