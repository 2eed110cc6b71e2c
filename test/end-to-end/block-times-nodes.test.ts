/** Several processes and nodes: runs are sampled wherever they run, and each node shows them all. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { soon } from './tracing-room.ts'
import { openWorkerRoom, type WorkerRoom } from './worker-room.ts'

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

function twoNodes(): void {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  beforeAll(async () => {
    temporary = await openTemporaryDatabase()
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
}

function severalProcesses(): void {
  let room: WorkerRoom
  beforeAll(async () => {
    room = await openWorkerRoom()
  })
  afterAll(() => room?.close())

  test('readers sample what they answer, and leave to the writer what it does', async () => {
    const blueprint = await room.install('Reads', blocks)
    expect(room.readers().length).toBeGreaterThan(0)
    const all = await room.manage('GET', `/blueprints/${blueprint}/blocks`)
    const times = () => room.manage('GET', `/blueprints/${blueprint}/block-times`)
    let at = 0
    // One process has one run of a trigger in a second: more than one of them at once comes from several.
    const most = await soon(async () => {
      const before = passesOf(await times(), guidOf(all, 'search'))
      at += 1
      const replies = await room.everywhere(`/reads?at=${at}`)
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
      const after = passesOf(await times(), guidOf(all, 'search'))
      return after - before > 1 ? after : undefined
    })
    expect(most).toBeGreaterThan(1)
    const written = await soon(async () => {
      at += 1
      await room.everywhere(`/writes?at=${at}`)
      const found = await times()
      return passesOf(found, guidOf(all, 'create')) > 0 ? found : undefined
    })
    // What a reader began and did not finish is not counted.
    for (const name of ['post', 'created'])
      expect(passesOf(written, guidOf(all, name))).toBe(passesOf(written, guidOf(all, 'create')))
  })
}

if (inject('engine') === 'postgres') describe('two nodes', twoNodes)
else describe('several processes on one embedded database', severalProcesses)
