import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { readEvents } from '../../../test/event-reader.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { setFields } from '../../shared/mutation.ts'

let temporary: TemporaryDatabase
let nodes: readonly TestQuoin[] = []
let addresses: readonly string[] = []

beforeAll(async () => {
  temporary = await openTemporaryDatabase()
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
    await session?.commit()
    expect(await reader.data()).toContain(name)
  }
  reader.close()
})

test('it ends on each node when one deactivates the blueprint', async () => {
  const readers = await Promise.all(addresses.map((address) => readEvents(`${address}/api/v1/list`)))
  for (const reader of readers) await reader.data()
  for (const [guid] of nodes[0]?.quoin.flows.live.table().blueprints ?? [])
    await nodes[0]?.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  for (const reader of readers) expect(await reader.next()).toBeUndefined()
})
