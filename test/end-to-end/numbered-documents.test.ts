/** Fields of the type autonumber through each door, on two nodes, and over the end of a process. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import {
  adminPassword,
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type RunningProcess,
  startProcess,
  type TestQuoin,
} from './harness.ts'
import { goodsBlocks, writeDoors } from './write-doors/goods-doors.ts'
import { changing, creating } from './write-doors/write-door.ts'

const onPostgres = inject('engine') === 'postgres'
const number = { name: 'number', type: 'autonumber', storage: 'goods' }
const numbersOf = (documents: readonly JsonObject[]) => documents.map((one) => one.number)
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const sorted = (numbers: readonly JsonValue[]) => numbers.map(Number).toSorted((a, b) => a - b)

describe('one storage, each door', () => {
  let quoin: TestQuoin
  let first = ''
  let origin = ''
  beforeAll(async () => {
    quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
    await quoin.manage('POST', '/_system/storages', { name: 'suppliers' })
    await quoin.manage('POST', '/_system/storages', { name: 'goods', closed: true, history: true })
    for (const field of [
      { name: 'title', type: 'string' },
      { name: 'key', type: 'string', unique: true },
      ...['code', 'shelf', 'place', 'mail', 'ready'].map((name) => ({ name, type: 'string' })),
      ...['price', 'count', 'parts'].map((name) => ({ name, type: 'number' })),
      { name: 'supplier', type: 'reference', reference: { storage: 'suppliers' } },
      number,
    ])
      await quoin.manage('POST', '/blueprintfields', { storage: 'goods', ...field })
    await quoin.install('Goods', goodsBlocks)
    origin = await quoin.quoin.server.listen()
    const session = quoin.quoin.database.session()
    first = guidOf((await session.create('goods', setFields({ title: 'First', key: 'second' }))).value)
    await session.transaction.commit()
  })
  afterAll(() => quoin.close())

  // These two are tables of refusals, and wait for one.
  const tried = creating.filter((door) => door !== 'quoin rows import' && door !== 'job of a function')
  test.each(tried)('%s: what is sent is replaced by the next number', async (door) => {
    const before = await quoin.documents('goods')
    await writeDoors({ quoin, origin, guid: () => first })[door]({ key: door.replace(', ', ' '), number: 99 })
    const [made, ...others] = (await quoin.documents('goods')).slice(before.length)
    expect([made?.number, others]).toEqual([before.length + 1, []])
  })

  test.each(changing)('%s: the number is kept', async (door) => {
    const before = await quoin.documents('goods')
    const fields = { title: door, ...(door === 'block, upsert of one' && { key: 'second' }), number: 99 }
    await writeDoors({ quoin, origin, guid: () => first })[door](fields)
    const after = await quoin.documents('goods')
    expect(after[0]).toMatchObject({ title: door, number: 1 })
    expect(numbersOf(after)).toEqual(numbersOf(before))
  })

  test('a document that is restored has the number that it had', async () => {
    const path = '/_system/storages/goods/documents'
    const guid = guidOf(await quoin.manage('POST', path, { key: 'restored' }))
    const { number: had } = objectOf(await quoin.manage('GET', `${path}/${guid}`))
    await quoin.manage('DELETE', `${path}/${guid}`)
    const next = objectOf(await quoin.manage('POST', path, { key: 'other' })).number
    await quoin.manage('POST', `${path}/${guid}/restore`)
    expect([(await quoin.manage('GET', `${path}/${guid}`)) ?? {}, next]).toMatchObject([
      { number: had },
      Number(had) + 1,
    ])
  })

  test('it is read only in the API document, and a whole number', async () => {
    const { body } = await quoin.send('GET', '/openapi.json', { as: 'admin' })
    const { GoodsDocument, PostGoodsBody } = objectOf(objectOf(objectOf(body).components).schemas)
    for (const schema of [GoodsDocument, PostGoodsBody])
      expect(objectOf(objectOf(schema).properties).number).toEqual({
        type: ['integer', 'null'],
        readOnly: true,
      })
  })

  test('it is filtered and sorted by', async () => {
    const found = await quoin.manage('POST', '/_system/storages/goods/documents/search', {
      filters: { number: { gte: 2, lt: 4 } },
      sort: [{ number: 'desc' }],
    })
    expect(numbersOf(objectsOf(found))).toEqual([3, 2])
  })
})

test('documents from before the field are numbered from the oldest on, and new ones behind them', async () => {
  const quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  const path = '/_system/storages/goods/documents'
  try {
    await quoin.manage('POST', '/_system/storages', { name: 'goods' })
    for (const title of ['a', 'b', 'c']) {
      await quoin.manage('POST', path, { title })
      quoin.advance(1_000)
    }
    const field = guidOf(await quoin.manage('POST', '/blueprintfields', number))
    const { job, count } = objectOf(await quoin.manage('POST', `/blueprintfields/${field}/fill`))
    expect(count).toBe(3)
    const finished = async () =>
      objectOf(objectOf(await quoin.manage('GET', `/queue/${job}`)).progress ?? {}).finished
    await expect.poll(finished, { timeout: 60_000, interval: 20 }).toBe(true)
    await quoin.manage('POST', path, { title: 'd' })
    const all = (await quoin.documents('goods')).map(({ title, number: input }) => [title, input])
    expect(all).toEqual(['a', 'b', 'c', 'd'].map((title, at) => [title, at + 1]))
    const again = objectOf(await quoin.manage('POST', `/blueprintfields/${field}/fill`))
    expect(again.count).toBe(0)
  } finally {
    await quoin.close()
  }
})

describe(onPostgres ? 'two nodes' : 'one node', () => {
  let temporary: TemporaryDatabase | undefined
  let nodes: readonly TestQuoin[] = []
  beforeAll(async () => {
    temporary = onPostgres ? await openTemporaryDatabase(quoinTemplate) : undefined
    const settings = { QUOIN_RATE_LIMIT: '0', ...(temporary && { DATABASE_URL: temporary.url }) }
    for (const name of onPostgres ? ['one', 'two'] : ['one'])
      nodes = [...nodes, await openTestQuoin({ ...settings, QUOIN_NODE: name })]
    await nodes[0]?.manage('POST', '/_system/storages', { name: 'goods' })
    await nodes[0]?.manage('POST', '/blueprintfields', number)
    await nodes[0]?.install('Goods', {
      plain: { type: 'on_startup_register_uri_post', in: { uri: 'plain' }, scopes: ['*public'] },
      made: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@plain.flow', storage: 'goods', set: '=body' },
      },
      reply: { type: 'httpconnection_set_json', in: { flow: '@made.flow', value: '=made.document.number' } },
    })
  })
  afterAll(async () => {
    for (const one of nodes) await one.close()
    await temporary?.drop()
  })

  test('of 50 creates at once each has a number of its own, and none is left out', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, at) =>
        nodes[at % nodes.length]?.send('POST', '/plain', { body: {} }),
      ),
    )
    expect(sorted(answers.map((answer) => answer?.body ?? null))).toEqual(upTo(50))
    expect(sorted(numbersOf((await nodes[0]?.documents('goods')) ?? []).map(Number))).toEqual(upTo(50))
  })
})

test('after kill -9 no acknowledged number is given again, also where its document was deleted', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const temporary = onPostgres ? await openTemporaryDatabase(quoinTemplate) : undefined
  const settings = {
    ...{ QUOIN_ADMIN_PASSWORD: adminPassword, QUOIN_EXAMPLES: '0', QUOIN_RATE_LIMIT: '0' },
    ...(temporary && { DATABASE_URL: temporary.url }),
  }
  let quoin = await startProcess(directory, settings)
  try {
    const headers = await signedIn(quoin)
    const send = async (method: string, path: string, body?: JsonValue) => {
      const input = body === undefined ? {} : { body: JSON.stringify(body) }
      const reply = await fetch(`${quoin.address}/api/v1${path}`, { method, headers, ...input })
      if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
      const text = await reply.text()
      return text === '' ? {} : objectOf(JSON.parse(text))
    }
    await send('POST', '/_system/storages', { name: 'goods' })
    await send('POST', '/blueprintfields', number)
    const path = '/_system/storages/goods/documents'
    const acknowledged: JsonValue[] = []
    let killed = false
    const client = async () => {
      while (!killed) {
        const made = await send('POST', path, {}).catch((error: unknown) => {
          if (!killed) throw error
        })
        if (!made) return
        acknowledged.push(made.number ?? null)
      }
    }
    const clients = Promise.all(Array.from({ length: 8 }, client))
    await expect.poll(() => acknowledged.length, { timeout: 60_000, interval: 1 }).toBeGreaterThan(30)
    // The highest one is permanently deleted before the process ends.
    const highest = await send('POST', path, {})
    acknowledged.push(highest.number ?? null)
    await send('DELETE', `${path}/${guidOf(highest)}?hard=true`)
    const ended = quoin.end('SIGKILL')
    killed = true
    await Promise.all([ended, clients])
    quoin = await startProcess(directory, settings)
    acknowledged.push((await send('POST', path, {})).number ?? null)
    expect(new Set(acknowledged).size).toBe(acknowledged.length)
    expect(acknowledged.at(-1)).toBe(Math.max(...acknowledged.map(Number)))
  } finally {
    await quoin.end('SIGKILL')
    await temporary?.drop()
    await rm(directory, { recursive: true, force: true })
  }
})

async function signedIn({ address }: RunningProcess): Promise<Readonly<Record<string, string>>> {
  const reply = await fetch(`${address}/api/v1/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  })
  const { access_token } = objectOf(JSON.parse(await reply.text()))
  return { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }
}
