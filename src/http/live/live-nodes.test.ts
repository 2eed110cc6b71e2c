import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { readEvents } from '../../../test/event-reader.ts'
import { quoinTemplate } from '../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { setFields } from '../../shared/mutation.ts'

let temporary: TemporaryDatabase
let nodes: readonly TestQuoin[] = []
let addresses: readonly string[] = []

beforeAll(async () => {
  temporary = await openTemporaryDatabase(quoinTemplate)
  const one = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one' })
  nodes = [one, await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two' })]
  addresses = await Promise.all(nodes.map((node) => node.quoin.server.listen()))
  await one.install('List', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'list' }, scopes: ['*public'] },
    find: { type: 'function_search', in: { flow: '@ask.flow', storage: 'list' } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@find.flow', value: '=map(find.documents, one => one.name)' },
    },
    listen: { type: 'on_startup_register_uri_get', in: { uri: 'news' }, scopes: ['*public'] },
    subscribe: { type: 'subscribe', in: { flow: '@listen.flow', channel: 'news', first: 'here' } },
    tell: { type: 'on_startup_register_uri_post', in: { uri: 'news' }, scopes: ['*public'] },
    publish: { type: 'publish', in: { flow: '@tell.flow', channel: 'news', value: '=body.value' } },
    told: { type: 'httpconnection_set_json', in: { flow: '@publish.flow', value: 1 } },
  })
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await temporary?.drop()
})

test('a reply followed on one node is sent again when another node writes', async () => {
  const reader = await readEvents(`${addresses[0]}/api/v1/list`)
  expect(await reader.data()).toEqual([])
  for (const name of ['first', 'second']) {
    const session = nodes[1]?.quoin.database.session()
    await session?.create('list', setFields({ name }))
    await session?.transaction.commit()
    expect(await reader.data()).toContain(name)
  }
  reader.close()
})

test('what one node publishes arrives on each, in order, whatever its size', async () => {
  const readers = await Promise.all(addresses.map((address) => readEvents(`${address}/api/v1/news`)))
  for (const reader of readers) expect(await reader.data()).toBe('here')
  // A notification of PostgreSQL holds 8,000 bytes.
  const values = ['first', 'x'.repeat(60_000), 'last']
  for (const value of values) await nodes[0]?.send('POST', '/news', { body: { value } })
  for (const reader of readers) for (const value of values) expect(await reader.data()).toBe(value)
  await nodes[1]?.send('POST', '/news', { body: { value: 'back' } })
  for (const reader of readers) expect(await reader.data()).toBe('back')
  for (const reader of readers) reader.close()
})

test('streams end on each node when one deactivates the blueprint', async () => {
  const readers = await Promise.all(addresses.map((address) => readEvents(`${address}/api/v1/list`)))
  for (const reader of readers) await reader.data()
  for (const [guid] of nodes[0]?.quoin.flows.live.table().blueprints ?? [])
    await nodes[0]?.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  for (const reader of readers) expect(await reader.next()).toBeUndefined()
})
