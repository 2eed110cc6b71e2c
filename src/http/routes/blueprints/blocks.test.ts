import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import { installBlueprint } from '../../../flows/blueprints/install-blueprint.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('builder', ['blueprintactions_view'])
  await fixture.addUser('other', ['blueprints_view'])
})
afterAll(() => fixture.close())

const by = { guid: '', username: 'admin' }
const uses = async () => (await fixture.send('GET', '/blocks/uses', 'builder')).body

test('the block types that are used most come first, counted at most once a minute', async () => {
  const flow = (count: number) => ({
    name: `Logs ${count}`,
    blocks: {
      on: { type: 'trigger_custom_function', fields: { name: `log_${count}` } },
      ...Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`log${at}`, { type: 'function_console_log' }]),
      ),
    },
  })
  await installBlueprint(fixture.flows, flow(2), by)
  const first = [
    { type: 'function_console_log', count: 2 },
    { type: 'trigger_custom_function', count: 1 },
  ]
  expect(await uses()).toEqual(first)
  const guid = await installBlueprint(fixture.flows, flow(3), by)
  expect(await uses()).toEqual(first)
  fixture.clock.now += 60_000
  expect(await uses()).toEqual([
    { type: 'function_console_log', count: 5 },
    { type: 'trigger_custom_function', count: 2 },
  ])
  // What was removed is not counted.
  await fixture.send('PUT', `/blueprints/update/set/inactive/${guid}`, 'admin', {})
  expect((await fixture.send('DELETE', `/blueprints/${guid}`, 'admin')).status).toBe(200)
  fixture.clock.now += 60_000
  expect(await uses()).toEqual(first)
})

const search = (body: JsonObject, as = 'builder') => fixture.send('POST', '/blocks/search', as, body)
const one = (identifier: string, as = 'builder') => fixture.send('GET', `/blocks/${identifier}`, as)

test.each([
  ['a limit beyond the most', 400, () => search({ limit: 51 })],
  ['long words', 400, () => search({ query: 'a'.repeat(201) })],
  ['an unknown member', 400, () => search({ words: 'a' })],
  ['an unknown block', 404, () => one('no_such')],
  ['a member of every object', 404, () => one('__proto__')],
  ['no token', 401, () => search({}, '')],
  ['another scope', 403, () => search({}, 'other')],
  ['another scope, one block', 403, () => one('function_search', 'other')],
])('%s is refused', async (_, status, ask) => {
  expect((await ask()).status).toBe(status)
})

test('blocks are found by words, and one by its identifier, as the whole list has them', async () => {
  const { body: all } = await fixture.send('GET', '/blocks', 'builder')
  const found = await search({ query: 'Document  CREATE', limit: 3 })
  expect(found.body).toEqual({ found: expect.any(Number), blocks: expect.any(Array) })
  expect(jsonAt(found.body, 'blocks')).toHaveLength(3)
  const words = ['document', 'create']
  const having = objectsIn(all).filter(({ identifier, title, summary }) => {
    const about = `${identifier} ${title} ${summary}`.toLowerCase()
    return words.every((word) => about.includes(word))
  })
  expect(jsonAt(found.body, 'found')).toBe(having.length)
  expect(jsonAt(found.body, 'blocks', 0)).toEqual({
    identifier: having[0]?.identifier,
    title: having[0]?.title,
    summary: having[0]?.summary,
  })
  expect((await search({})).body).toMatchObject({ found: objectsIn(all).length })
  expect((await search({ query: 'nosuchword' })).body).toEqual({ found: 0, blocks: [] })
  expect((await one('function_search')).body).toEqual(
    objectsIn(all).find(({ identifier }) => identifier === 'function_search'),
  )
})

test('uses are for users who may see blocks', async () => {
  expect((await fixture.send('GET', '/blocks/uses', 'other')).status).toBe(403)
  expect((await fixture.send('GET', '/blocks/uses', '')).status).toBe(401)
})

const at = (name: string, as = 'both') =>
  fixture.send('GET', `/blocks/functions/${encodeURIComponent(name)}`, as)

test('a function is found with its calls in all blueprints, as they are staged', async () => {
  await fixture.addUser('both', ['blueprintactions_view', 'blueprints_view'])
  const shop = {
    name: 'Shop',
    blocks: {
      price: { type: 'trigger_custom_function', fields: { name: 'the price' } },
      call: { type: 'function_custom_execute', in: { flow: '@price.flow', function: 'the price' } },
    },
  }
  const post = {
    name: 'Post',
    blocks: {
      on: { type: 'trigger_custom_function', fields: { name: 'post' } },
      later: {
        type: 'function_custom_execute_from_queue',
        title: 'Later',
        in: { flow: '@on.flow', function: 'the price' },
      },
      other: { type: 'function_custom_execute', in: { flow: '@later.flow', function: 'post' } },
      read: { type: 'function_console_log', in: { value: 'the price' } },
    },
  }
  const first = await installBlueprint(fixture.flows, shop, by)
  const second = await installBlueprint(fixture.flows, post, by)
  const { body } = await at('the price')
  expect(body).toMatchObject({
    functions: [{ blueprint: first, blueprint_name: 'Shop', name: 'price', type: 'trigger_custom_function' }],
    calls: [
      { blueprint: second, blueprint_name: 'Post', name: 'later', title: 'Later' },
      { blueprint: first, blueprint_name: 'Shop', name: 'call' },
    ],
    whole: true,
  })
  // A call that is staged to be removed is none any more.
  const call = jsonAt(body, 'calls', 1, 'block')
  await fixture.send('DELETE', `/blueprintactions/${call}`, 'admin')
  expect(jsonAt((await at('the price')).body, 'calls')).toMatchObject([{ name: 'later' }])
  expect((await at('no such')).body).toEqual({ functions: [], calls: [], whole: true })
})

test('names of blueprints are for those who may see both', async () => {
  expect((await at('the price', 'builder')).status).toBe(403)
  expect((await at('the price', 'other')).status).toBe(403)
})

test('a function with very many calls is listed in part', async () => {
  const blocks = Object.fromEntries(
    Array.from({ length: 230 }, (_, n) => [
      `c${n}`,
      { type: 'function_custom_execute', in: { function: 'busy' } },
    ]),
  )
  await installBlueprint(fixture.flows, { name: 'Busy', blocks }, by)
  const { body } = await at('busy')
  expect(jsonAt(body, 'whole')).toBe(false)
  expect(jsonAt(body, 'calls')).toHaveLength(200)
})
