/** Spaces on two nodes: what one of them does counts on the other when it is acknowledged. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spaceDatabase } from '../../src/quoin/space-options.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

let temporary: TemporaryDatabase
let one: TestCluster
let two: TestCluster
/** The same space, asked on each node. */
let here: TestSpace
let there: TestSpace
beforeAll(async () => {
  temporary = await openTemporaryDatabase(quoinTemplate)
  one = await openTestCluster({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one' })
  two = await openTestCluster({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two' })
  here = await one.addSpace('red')
  there = two.space('red', here.guid)
})
afterAll(async () => {
  await two?.close()
  await one?.close()
  await temporary?.drop()
})

const greet = (text: string) => ({
  get: { type: 'on_startup_register_uri_get', in: { uri: 'greeting' }, scopes: ['*public'] },
  reply: { type: 'reply', in: { flow: '@get.flow', value: text } },
})
const path = () => `/_system/spaces/${here.guid}`
const nodesOf = async () => {
  const all = await one.operator.documents('_spaces')
  return objectsOf(all).find(({ name }) => name === 'red')?.nodes
}

test('a space that one node has made is served by both, with the same users and flows', async () => {
  await here.addUser('ann', ['users_view'])
  await there.signIn('ann', 'a password of a user')
  expect(await nodesOf()).toHaveLength(2)
  await here.install('Greeting', greet('hello'))
  // Active on both when the deploy has replied.
  expect((await there.send('GET', '/greeting')).body).toBe('hello')
  const token = await here.signIn()
  expect((await there.send('GET', '/users/me', { token })).status).toBe(200)
  await there.send('POST', '/auth/signout', { token })
  expect((await here.send('GET', '/users/me', { token })).status).toBe(401)
  // The operator's own part has none of it, on either node.
  for (const { operator } of [one, two]) expect((await operator.send('GET', '/greeting')).status).toBe(404)
})

test('of two nodes that make a space of one name, or give two spaces one host, one is told that it is taken', async () => {
  const root = '/_system/spaces'
  const statuses = async (sent: readonly ReturnType<TestCluster['operator']['send']>[]) =>
    (await Promise.all(sent)).map(({ status }) => status).toSorted()
  const make = (cluster: TestCluster, host: string) =>
    cluster.operator.send('POST', root, { as: 'admin', body: { name: 'twice', hosts: [host] } })
  expect(await statuses([make(one, 'one.example.test'), make(two, 'two.example.test')])).toEqual([200, 409])
  const all = await one.operator.documents('_spaces')
  expect(all.map(({ name }) => name).toSorted()).toEqual(['red', 'twice'])
  const twice = guidOf(all.find(({ name }) => name === 'twice'))
  const take = (cluster: TestCluster, guid: string) =>
    cluster.operator.send('PUT', `${root}/${guid}`, {
      as: 'admin',
      body: { hosts: [`host-${guid}.example.test`, 'both.example.test'] },
    })
  expect(await statuses([take(one, here.guid), take(two, twice)])).toEqual([200, 409])
  await two.operator.manage('PUT', `${root}/${here.guid}`, { hosts: [here.host] })
  const remove = ({ operator }: TestCluster) =>
    operator.send('DELETE', `${root}/${twice}?confirm=twice`, { as: 'admin' })
  const removed = await statuses([remove(one), remove(two)])
  expect([removed[0], removed.includes(500)]).toEqual([200, false])
  expect(await two.operator.documents('_spaces')).toHaveLength(1)
})

test('one that is suspended on one node is refused by the other at once', async () => {
  await two.operator.manage('PUT', path(), { suspended: true })
  for (const space of [here, there]) expect((await space.send('GET', '/greeting')).status).toBe(503)
  await expect.poll(nodesOf, { timeout: 20_000 }).toEqual([])
  await one.operator.manage('PUT', path(), { suspended: false })
  for (const space of [here, there]) expect((await space.send('GET', '/greeting')).body).toBe('hello')
})

test('a preview that one node has made is served, pushed into and removed by the other', async () => {
  const previews = '/_system/previews'
  const preview = (name: string, value: string) => ({
    name,
    application: {
      about: { name: 'hello' },
      blueprints: { hello: { name: 'Hello', blocks: greet(value) } },
      ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
    },
  })
  const said = () =>
    Promise.all(
      [one, two].map(async ({ ask }) => {
        const { status, body } = await ask('quoin.example.test', 'GET', '/~x/api/v1/greeting')
        return status === 200 ? body : status
      }),
    )
  const make = ({ operator }: TestCluster, name: string, value: string) =>
    operator.send('POST', previews, { as: 'admin', body: preview(name, value) })
  expect([(await make(one, 'x', 'first')).status, await said()]).toEqual([200, ['first', 'first']])
  expect([(await make(two, 'x', 'second')).status, await said()]).toEqual([200, ['second', 'second']])
  await two.operator.manage('DELETE', `${previews}/x`)
  expect([await said(), await one.operator.manage('GET', previews)]).toEqual([[404, 404], []])
})

test('one that is deleted on one node is closed on the other first, and its database is gone', async () => {
  const client = new Client({ connectionString: temporary.url })
  await client.connect()
  const isThere = async () => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      spaceDatabase(here.guid),
    ])
    return rowCount === 1
  }
  try {
    expect([await nodesOf(), await isThere()]).toEqual([[expect.anything(), expect.anything()], true])
    expect(objectOf(await two.operator.manage('DELETE', `${path()}?confirm=red`))).toMatchObject({
      removed: true,
    })
    expect(await isThere()).toBe(false)
    for (const space of [here, there]) expect((await space.send('GET', '/greeting')).status).toBe(404)
  } finally {
    await client.end()
  }
})
