/** Two nodes: runs are sampled wherever they run, and each node shows them all. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { soon } from './tracing-fixture.ts'

const blocks = {
  get: { type: 'on_startup_register_uri_get', in: { uri: 'reads' }, scopes: ['*public'] },
  search: { type: 'function_search', in: { flow: '@get.flow', storage: 'goods', limit: 5 } },
  reply: {
    type: 'httpconnection_set_json',
    in: { flow: '@search.flow', value: '=[search.total, query.at]' },
  },
  post: { type: 'on_startup_register_uri_get', in: { uri: 'writes' }, scopes: ['*public'] },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@post.flow', storage: 'goods', set: '={ at: query.at }' },
  },
  created: { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: 'created' } },
}

const passesOf = (times: JsonValue, block: string) => {
  const found = objectsOf(objectOf(times).blocks).find((one) => one.block === block)
  return Number(found?.passes ?? 0)
}
const guidOf = (all: JsonValue, name: string) => {
  const found = objectsOf(all).find((one) => one.name === name)
  return String(objectOf(found?._meta).guid)
}

describe('two nodes', () => {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    one = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one' })
    two = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two' })
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await temporary?.drop()
  })

  test('runs of both nodes are added up', async () => {
    const blueprint = await one.install('Reads', blocks)
    const search = guidOf(await one.manage('GET', `/blueprints/${blueprint}/blocks`), 'search')
    const times = (node: TestQuoin) => node.manage('GET', `/blueprints/${blueprint}/block-times`)
    let at = 0
    const sampledOn = (node: TestQuoin) =>
      soon(async () => {
        at += 1
        const before = passesOf(await times(node), search)
        expect((await node.send('GET', `/reads?at=${at}`)).status).toBe(200)
        return passesOf(await times(node), search) > before ? true : undefined
      })
    await sampledOn(one)
    await sampledOn(two)
    expect(passesOf(await times(one), search)).toBe(passesOf(await times(two), search))
    expect(passesOf(await times(one), search)).toBeGreaterThanOrEqual(2)
  })
})
