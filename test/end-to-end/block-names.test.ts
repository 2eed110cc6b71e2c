/** Names of blocks: made, given, kept, refused when another block has them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let blueprint: string
let count = 0
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin.close())
beforeEach(async () => {
  blueprint = await quoin.install(`names-${count++}`, { goods: { type: 'value_default' } })
})

const create = (content: JsonObject) =>
  quoin.send('POST', '/blueprintactions', {
    as: 'admin',
    body: { type: 'value_default', blueprint_guid: blueprint, ...content },
  })
const blocks = async () => objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
const names = async () => (await blocks()).map(({ name, unsaved }) => stagedName(unsaved) ?? name)
const stagedName = (unsaved: JsonValue | undefined) => (unsaved ? objectOf(unsaved).name : undefined)

test.each<[string, JsonObject, RegExp]>([
  ['a name of another block', { name: 'goods' }, /named goods: choose another name/],
  ['a name with a blank', { name: 'my goods' }, /name/],
  ['a name that starts with a digit', { name: '1st' }, /name/],
  ['a name that is too long', { name: 'n'.repeat(64) }, /name/],
])('%s is refused, and nothing is stored', async (_what, content, message) => {
  const { status, body } = await create(content)
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toMatch(message)
  expect(await names()).toEqual(['goods'])
})

test('a block without a name gets one from its title, one that no other block has', async () => {
  for (const title of ['Goods', 'Goods', 'Query', 'Ältere Waren', '']) await create({ title })
  expect(await names()).toEqual(['goods', 'goods_2', 'goods_3', 'query_2', 'a_ltere_waren', 'value_default'])
})

test('a name is changed by staging it, and kept by those who do not know of names', async () => {
  const made = objectOf((await create({ name: 'stock' })).body)
  await quoin.manage('PUT', `/blueprintactions/${guidOf(made)}`, { title: 'Other' })
  expect(await names()).toEqual(['goods', 'stock'])
  await quoin.manage('PUT', `/blueprintactions/${guidOf(made)}`, { name: 'amount' })
  expect(await names()).toEqual(['goods', 'amount'])
  const taken = await quoin.send('PUT', `/blueprintactions/${guidOf(made)}`, {
    as: 'admin',
    body: { name: 'goods' },
  })
  expect(taken.status).toBe(400)

  const [block] = await blocks()
  const { type, title, description, position, in_pins, custom_out_pins, fields, scopes } = block ?? {}
  const known = { type, title, description, position, in_pins, custom_out_pins, fields, scopes }
  const content = { ...known, title: 'Renamed' }
  const edit = {
    guid: guidOf(block ?? {}),
    update_hash: objectOf(block?._meta).update_hash ?? null,
    content: JSON.parse(JSON.stringify(content)),
  }
  await quoin.manage('POST', `/blueprints/${blueprint}/edits`, { edits: [edit] })
  expect(await names()).toEqual(['goods', 'amount'])
})

test('two blocks exchange their names in one edit', async () => {
  await create({ name: 'stock' })
  const edits = (await blocks()).map((block) => {
    const { _meta, type, title, description, position, in_pins, custom_out_pins, fields, scopes } = block
    const name = block.name === 'goods' ? 'stock' : 'goods'
    const content = { type, name, title, description, position, in_pins, custom_out_pins, fields, scopes }
    return { guid: guidOf(block), update_hash: objectOf(_meta).update_hash, content }
  })
  await quoin.manage('POST', `/blueprints/${blueprint}/edits`, { edits: JSON.parse(JSON.stringify(edits)) })
  expect(await names()).toEqual(['stock', 'goods'])
})

test('a renamed block is followed by the expressions that name it, and nothing is staged by that', async () => {
  const word = `follow-${count++}`
  blueprint = await quoin.install(word, {
    on: { type: 'on_startup_register_uri_get', in: { uri: word } },
    goods: { type: 'value_default', in: { value: 'bolt' } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@on.flow', value: '={ goods: goods.value, a: "goods.value" }' },
    },
  })
  const pin = async () => {
    const reply = objectOf((await blocks()).find(({ name }) => name === 'reply'))
    const found = objectsOf(reply.in_pins).find(({ id }) => id === 'value')
    return [found?.expression, Object.keys(objectOf(found?.refs)), reply.unsaved]
  }
  const goods = guidOf(objectOf((await blocks()).find(({ name }) => name === 'goods')))
  const sent = async () => (await quoin.send('GET', `/${word}`)).body
  expect(await pin()).toEqual(['{ goods: goods.value, a: "goods.value" }', ['goods'], null])

  await quoin.manage('PUT', `/blueprintactions/${goods}`, { name: 'stock' })
  expect(await pin()).toEqual(['{ goods: stock.value, a: "goods.value" }', ['stock'], null])
  expect(await sent()).toEqual({ goods: 'bolt', a: 'goods.value' })
  await quoin.manage('DELETE', `/blueprintactions/unsaved/${goods}`)
  expect(await pin()).toEqual(['{ goods: goods.value, a: "goods.value" }', ['goods'], null])

  await quoin.manage('PUT', `/blueprintactions/${goods}`, { name: 'query' })
  await quoin.manage('POST', `/blueprintactions/unsaved/${goods}`)
  expect(await pin()).toEqual(['{ goods: blocks.query.value, a: "goods.value" }', ['query'], null])
  await quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
  expect(await sent()).toEqual({ goods: 'bolt', a: 'goods.value' })

  // Another block takes the name that became free: the expression still means the one that it meant.
  await create({ name: 'goods', in_pins: [{ id: 'value', value: 'nut' }] })
  await quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
  expect(await sent()).toEqual({ goods: 'bolt', a: 'goods.value' })
})
