/** What one node keeps is never older than what any node has acknowledged. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockCounts } from '../../src/flows/compile/graph-wiring.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const blocks = {
  get: { type: 'on_startup_register_uri_get', in: { uri: 'goods/{guid}' }, ...open },
  read: { type: 'function_get_document', in: { flow: '@get.flow', storage: 'goods', guid: '=params.guid' } },
  good: { type: 'httpconnection_set_json', in: { flow: '@read.flow', value: '=read.document.n' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, ...open },
  search: { type: 'function_search', in: { flow: '@list.flow', storage: 'goods', limit: 5 } },
  total: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '=search.total' } },
  post: { type: 'on_startup_register_uri_post', in: { uri: 'goods' }, ...open },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@post.flow', storage: 'goods', set: '={ n: body.n }' },
  },
  created: {
    type: 'httpconnection_set_json',
    in: { flow: '@create.flow', value: '=create.document._meta.guid' },
  },
  put: { type: 'on_startup_register_uri_put', in: { uri: 'goods/{guid}' }, ...open },
  update: {
    type: 'function_update_document_mutations',
    in: { flow: '@put.flow', storage: 'goods', guid: '=params.guid', set: '={ n: body.n }' },
  },
  updated: { type: 'httpconnection_set_json', in: { flow: '@update.flow', value: true } },
}

function twoNodes(): void {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  let guid = ''

  const executed = (node: TestQuoin) =>
    blockCounts(node.quoin.flows.catalogue)
      .entries()
      .reduce((sum, [, count]) => sum + count, 0)
  const numberAt = async (node: TestQuoin, path: string) => {
    const { status, body } = await node.send('GET', path)
    expect(status).toBe(200)
    return Number(body)
  }
  const create = async (n: number) => {
    const { status, body } = await two.send('POST', '/goods', { body: { n } })
    expect(status).toBe(200)
    return String(body)
  }

  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    const settings = {
      DATABASE_URL: temporary.url,
      QUOIN_RATE_LIMIT: '0',
      QUOIN_SECRETS_KEY: '0f'.repeat(32),
    }
    one = await openTestQuoin({ ...settings, QUOIN_NODE: 'one' })
    two = await openTestQuoin({ ...settings, QUOIN_NODE: 'two' })
    await one.install('Goods', blocks)
    guid = await create(0)
    // Until writes to the storage are noted, and the reply is kept.
    for (let times = 0, before = -1; times < 300 && before !== executed(one); times++) {
      before = executed(one)
      await numberAt(one, `/goods/${guid}`)
    }
  })
  test('a list of hosts of a secret counts on each node from the reply on', async () => {
    const key = { name: 'KEY', value: 'sk_live', hosts: ['shop.example'] }
    const record = await one.manage('POST', '/_system/secrets', key)
    const shop = new URL('https://shop.example/')
    const opened = () => [one, two].map(({ quoin }) => quoin.flows.secrets.open('KEY', shop))
    expect(opened()).toEqual([{ value: 'sk_live' }, { value: 'sk_live' }])
    await one.manage('PUT', `/_system/secrets/${guidOf(record)}`, { hosts: [] })
    const problem = expect.stringContaining('may not be sent to shop.example')
    expect(opened()).toEqual([{ problem }, { problem }])
  })

  afterAll(async () => {
    await one?.close()
    await two?.close()
    await temporary?.drop()
  })

  test('a reply is sent again without a block while nothing is written on any node', async () => {
    await numberAt(one, '/goods')
    await numberAt(one, '/goods')
    const before = executed(one)
    for (let times = 0; times < 20; times++) {
      expect(await numberAt(one, '/goods')).toBe(1)
      expect(await numberAt(one, `/goods/${guid}`)).toBe(0)
    }
    expect(executed(one)).toBe(before)
  })

  test('each acknowledged write of the other node is in the next reply', async () => {
    for (let n = 1; n <= 60; n++) {
      expect((await two.send('PUT', `/goods/${guid}`, { body: { n } })).status).toBe(200)
      expect(await numberAt(one, `/goods/${guid}`)).toBe(n)
      if (n % 10 === 0) await create(n)
      expect(await numberAt(one, '/goods')).toBe(1 + Math.floor(n / 10))
    }
  })

  test('also where many read while another one writes', async () => {
    let acknowledged = 1_000
    let isWriting = true
    let fromMemory = 0
    await two.send('PUT', `/goods/${guid}`, { body: { n: acknowledged } })
    const read = async () => {
      while (isWriting) {
        const least = acknowledged
        const before = executed(one)
        const all = await Promise.all(Array.from({ length: 4 }, () => numberAt(one, `/goods/${guid}`)))
        if (executed(one) === before) fromMemory += 1
        for (const n of all) expect(n).toBeGreaterThanOrEqual(least)
      }
    }
    const write = async () => {
      for (let times = 0; times < 60; times++) {
        const n = acknowledged + 1
        expect((await two.send('PUT', `/goods/${guid}`, { body: { n } })).status).toBe(200)
        acknowledged = n
        // Between two writes some are answered from memory.
        if (times % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 40))
      }
      isWriting = false
    }
    await Promise.all([write().finally(() => (isWriting = false)), read(), read()])
    expect(await numberAt(one, `/goods/${guid}`)).toBe(acknowledged)
    expect(fromMemory).toBeGreaterThan(0)
  })

  test('a reply that always changes before it is asked for again is kept ever more rarely, and is exact', async () => {
    const other = await create(0)
    for (let n = 1; n <= 40; n++) {
      await two.send('PUT', `/goods/${other}`, { body: { n } })
      expect(await numberAt(one, `/goods/${other}`)).toBe(n)
    }
    // Once it rests it is kept again, at the latest after as many requests as are let pass.
    let before = -1
    let asked = 0
    for (; asked < 70 && before !== executed(one); asked++) {
      before = executed(one)
      expect(await numberAt(one, `/goods/${other}`)).toBe(40)
    }
    expect(asked).toBeLessThan(70)
  })
}

describe('two nodes', twoNodes)
