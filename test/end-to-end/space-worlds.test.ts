/** Random operations in two spaces: each replies as a cluster of its own to which only its own operations were sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { seededRandom } from '../seeded-random.ts'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

const STEPS = 120
const seed = 20_261_129

/** The same in all four: documents with a unique field and a number, a counter, a search that is cached, an aggregate. */
const blocks: JsonObject = {
  add: { type: 'on_startup_register_uri_post', in: { uri: 'items' }, scopes: ['*public'] },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: 'items', set: '={ word: body.word, size: body.size }' },
  },
  created: { type: 'reply', in: { flow: '@create.flow', value: '=create.document.word' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'items' }, scopes: ['*public'] },
  search: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: 'items', where: '=doc.size >= number(query.least)' },
  },
  listed: {
    type: 'reply',
    in: {
      flow: '@search.flow',
      value: '=({ total: search.total, words: search.documents.map(one => one.word) })',
    },
  },
}

interface World {
  send(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: JsonValue,
  ): Promise<{ status: number; text: string }>
}

const words = ['ash', 'birch', 'cedar', 'doum', 'elm', 'fir', 'gum', 'holly']
const people = ['ann', 'ben', 'cleo', 'dan']

/** One operation of a person or program, made of three numbers. */
async function step(world: World, [kind = 0, a = 0, b = 0]: readonly number[]): Promise<string> {
  const word = words[a % words.length] ?? ''
  const person = people[a % people.length] ?? ''
  switch (kind % 9) {
    case 0:
    case 1:
      return shown(await world.send('POST', '/items', { word, size: b % 10 }))
    case 2:
    case 3:
      return shown(await world.send('GET', `/items?least=${b % 4}`))
    case 4:
      return shown(
        await world.send('POST', '/users', { username: person, password: `a good password of ${b % 2}` }),
      )
    case 5:
      return shown(
        await world.send('POST', '/auth/signin', {
          username: person,
          password: `a good password of ${b % 2}`,
        }),
        true,
      )
    case 6:
      return shown(
        await world.send('PUT', '/_system/settings/QUOIN_KEEP_LOGS', { value: String(1 + (b % 30)) }),
      )
    case 7:
      return shown(await world.send('POST', '/_system/environment', { name: word.toUpperCase(), value: b }))
    default: {
      const found = await world.send('POST', '/users/search', { sort: [{ username: 'asc' }] })
      return shown({
        ...found,
        text: objectsOf(JSON.parse(found.text))
          .map(({ username }) => username)
          .join(),
      })
    }
  }
}

/** Without what differs each time: guids, times, tokens. */
function shown(
  { status, text }: { readonly status: number; readonly text: string },
  isShort = false,
): string {
  if (isShort) return String(status)
  const plain = text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<guid>')
    .replace(/"(?:created|updated|cms|ums|update_hash|hash)":[^,}]+/g, '')
  return `${status} ${plain}`
}

async function prepare(
  world: World,
  install: (name: string, blocks: JsonObject) => Promise<string>,
): Promise<void> {
  await world.send('POST', '/_system/storages', { name: 'items' })
  await world.send('POST', '/blueprintfields', {
    name: 'word',
    type: 'string',
    storage: 'items',
    unique: true,
  })
  await install('Items', blocks)
}

function worldOf({ send }: TestQuoin): World {
  return {
    send: (method, path, body) => send(method, path, { as: 'admin', ...(body !== undefined && { body }) }),
  }
}

async function worldIn(space: TestSpace): Promise<World> {
  const token = await space.signIn()
  return {
    send: (method, path, body) => space.send(method, path, { token, ...(body !== undefined && { body }) }),
  }
}

let cluster: TestCluster
const alone: TestQuoin[] = []
let worlds: { readonly shared: World; readonly own: World }[]
beforeAll(async () => {
  cluster = await openTestCluster()
  worlds = []
  for (const name of ['red', 'blue']) {
    const space = await cluster.addSpace(name)
    const quoin = await openTestQuoin()
    alone.push(quoin)
    const [shared, own] = [await worldIn(space), worldOf(quoin)]
    await prepare(shared, space.install)
    await prepare(own, quoin.install)
    worlds.push({ shared, own })
  }
})
afterAll(async () => {
  for (const quoin of alone) await quoin.close()
  await cluster?.close()
})

test('each space replies as if it were alone', async () => {
  const random = seededRandom(seed)
  const bytes = new Uint8Array(4)
  const statuses = new Set<string>()
  for (let at = 0; at < STEPS; at++) {
    random(bytes)
    const [which = 0, ...numbers] = bytes
    const world = worlds[which % 2]
    if (!world) throw new Error('There are two.')
    const [shared, own] = [await step(world.shared, numbers), await step(world.own, numbers)]
    expect(shared, `seed ${seed}, step ${at}`).toBe(own)
    statuses.add(shared.slice(0, 3))
  }
  // Both ways were taken: what is stored, and what is refused because of what is there.
  expect([...statuses].toSorted()).toEqual(['200', '401', '409'])
  // And at the end each has its own, and not that of the other.
  for (const { shared, own } of worlds)
    for (const path of ['/items?least=0', '/_system/settings/QUOIN_KEEP_LOGS'])
      expect(shown(await shared.send('GET', path))).toBe(shown(await own.send('GET', path)))
})
