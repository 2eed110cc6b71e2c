/** What an editor does: many changes at once, all or none, against a state that must still be; checks and versions. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let blueprint: string
let word: string
let count = 0
const fresh = () => quoin.quoin.flows.newGuid()

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('viewer', ['blueprintactions_view', 'blueprints_view'])
  for (const verb of ['create', 'update', 'remove'])
    await quoin.addUser(`${verb}r`, ['blueprintactions_update', `blueprintactions_${verb}`])
  await quoin.addUser('lister', ['blueprints_view'])
})

afterAll(() => quoin.close())

beforeEach(async () => {
  word = `edit-${count++}`
  blueprint = await quoin.install(word, {
    on: { type: 'on_startup_register_uri_get', in: { uri: word } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'one' } },
  })
})

const blocks = async () => objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
const replyBlock = async () =>
  objectOf((await blocks()).find((block) => block.type === 'httpconnection_set_json'))
const names = ['type', 'title', 'description', 'position', 'in_pins', 'custom_out_pins', 'fields', 'scopes']
const contentOf = (block: JsonObject): JsonObject =>
  Object.fromEntries(names.map((name) => [name, block[name] ?? null]))
const saying = (block: JsonObject, value: JsonValue) => ({
  ...contentOf(block),
  in_pins: [...objectsOf(block.in_pins).filter(({ id }) => id !== 'value'), { id: 'value', value }],
})
const hashOf = (block: JsonObject) => objectOf(block._meta).update_hash ?? null
const edits = (...all: JsonObject[]) =>
  quoin.send('POST', `/blueprints/${blueprint}/edits`, { as: 'admin', body: { edits: all } })
const answer = async () => (await quoin.send('GET', `/${word}`)).body

describe('edits', () => {
  test('who may not change blocks is refused', async () => {
    const block = await replyBlock()
    const body = { edits: [{ guid: guidOf(block), update_hash: hashOf(block), content: null }] }
    const refused = await quoin.send('POST', `/blueprints/${blueprint}/edits`, { as: 'viewer', body })
    expect(refused.status).toBe(403)
    expect((await replyBlock()).unsaved).toBe(null)
  })

  test.each([
    ['updater', [403, 403, 200, 403]],
    ['creater', [200, 403, 200, 403]],
    ['remover', [403, 200, 200, 403]],
  ])('%s: to create and to remove are scopes of their own', async (as, expected) => {
    const block = await replyBlock()
    const create = { guid: fresh(), update_hash: null, content: { ...contentOf(block), in_pins: [] } }
    const remove = { guid: guidOf(block), update_hash: hashOf(block), content: null }
    const update = { ...remove, content: saying(block, 'two') }
    const statuses: number[] = []
    for (const all of [[create], [remove], [update], [{ ...create, guid: fresh() }, remove]]) {
      const fits = all.map((edit) => (edit.update_hash === null ? edit : { ...edit }))
      const stored = new Map((await blocks()).map((one) => [guidOf(one), hashOf(one)]))
      const body = {
        edits: fits.map((edit) => ({ ...edit, update_hash: stored.get(edit.guid) ?? null })),
      }
      statuses.push((await quoin.send('POST', `/blueprints/${blueprint}/edits`, { as, body })).status)
    }
    expect(statuses).toEqual(expected)
  })

  test('a version and the pending changes show blocks only to who may see blocks', async () => {
    for (const path of [`/blueprints/${blueprint}/versions/1`, `/blueprints/deploy/${blueprint}/actions`]) {
      expect((await quoin.send('GET', path, { as: 'lister' })).status).toBe(403)
      expect((await quoin.send('GET', path, { as: 'viewer' })).status).toBe(200)
    }
    expect((await quoin.send('GET', `/blueprints/${blueprint}/versions`, { as: 'lister' })).status).toBe(200)
  })

  test('one stale edit makes all of them undone', async () => {
    const block = await replyBlock()
    const stale = { guid: guidOf(block), update_hash: 'another', content: saying(block, 'two') }
    const good = { guid: fresh(), update_hash: null, content: { ...contentOf(block), in_pins: [] } }
    const { status, body } = await edits(good, stale)
    expect([status, objectOf(body).error]).toEqual([409, 'CONFLICT'])
    expect(await blocks()).toHaveLength(2)
    expect((await replyBlock()).unsaved).toBe(null)
  })

  test('a wire that cannot be is refused with its pin, and nothing is staged', async () => {
    const block = await replyBlock()
    const on = objectOf((await blocks()).find(({ type }) => type === 'on_startup_register_uri_get'))
    const wired = [{ id: 'code', from: [{ block: guidOf(on), pin: 'flow' }] }]
    const content = { ...contentOf(block), in_pins: wired }
    const { status, body } = await edits({ guid: guidOf(block), update_hash: hashOf(block), content })
    expect([status, objectOf(body).fields]).toEqual([400, ['in_pins.code']])
    expect((await replyBlock()).unsaved).toBe(null)
  })

  test.each([
    ['a block twice', (a: JsonObject) => [a, a], 400],
    [
      'a new block under a guid that is none',
      (a: JsonObject) => [{ ...a, guid: 'mine', update_hash: null }],
      400,
    ],
    [
      'removing what is not there',
      (a: JsonObject) => [{ ...a, guid: fresh(), update_hash: null, content: null }],
      409,
    ],
  ])('%s is refused', async (_what, of, status) => {
    const block = await replyBlock()
    const edit = { guid: guidOf(block), update_hash: hashOf(block), content: contentOf(block) }
    expect((await edits(...of(edit))).status).toBe(status)
  })

  test('blocks that are wired to each other are made in one go, staged, and taken back', async () => {
    const [on, then] = [fresh(), fresh()]
    const base = { title: '', description: '', position: { x: 0, y: 0 }, custom_out_pins: [], fields: {} }
    const made = await edits(
      {
        guid: then,
        update_hash: null,
        content: {
          ...base,
          type: 'httpconnection_set_json',
          in_pins: [{ id: 'flow', from: [{ block: on, pin: 'flow' }] }],
          scopes: [],
        },
      },
      {
        guid: on,
        update_hash: null,
        content: {
          ...base,
          type: 'on_startup_register_uri_get',
          in_pins: [{ id: 'uri', value: `${word}-second` }],
          scopes: ['*public'],
        },
      },
    )
    expect(made.status).toBe(200)
    expect(objectsOf(made.body).map(({ is_created }) => is_created)).toEqual([false, false])
    const gone = objectsOf(made.body).map((one) => ({
      guid: guidOf(one),
      update_hash: hashOf(one),
      content: null,
    }))
    expect((await edits(...gone)).body).toEqual([])
    expect(await blocks()).toHaveLength(2)
  })

  test('what is staged and equals what is saved is not staged any more', async () => {
    const block = await replyBlock()
    const first = await edits({
      guid: guidOf(block),
      update_hash: hashOf(block),
      content: saying(block, 'two'),
    })
    const [staged] = objectsOf(first.body)
    expect(objectOf(staged?.unsaved).change).toBe('updated')
    const back = await edits({
      guid: guidOf(block),
      update_hash: hashOf(objectOf(staged)),
      content: contentOf(block),
    })
    expect(objectsOf(back.body)[0]?.unsaved).toBe(null)
    expect(await answer()).toBe('one')
  })

  test('a removal that was saved can be taken back under the same guid', async () => {
    const block = await replyBlock()
    await edits({ guid: guidOf(block), update_hash: hashOf(block), content: null })
    await quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
    expect(await blocks()).toHaveLength(1)
    const back = await edits({ guid: guidOf(block), update_hash: null, content: contentOf(block) })
    expect(objectsOf(back.body).map((one) => [guidOf(one), one.is_created])).toEqual([[guidOf(block), false]])
  })

  test('an editor that knows the blocks is told that nothing changed', async () => {
    const { headers } = await quoin.send('GET', `/blueprints/${blueprint}/blocks`, { as: 'admin' })
    const known = { 'if-none-match': String(headers.etag) }
    const path = `/blueprints/${blueprint}/blocks`
    expect((await quoin.send('GET', path, { as: 'admin', headers: known })).status).toBe(304)
    const block = await replyBlock()
    await edits({ guid: guidOf(block), update_hash: hashOf(block), content: saying(block, 'two') })
    expect((await quoin.send('GET', path, { as: 'admin', headers: known })).status).toBe(200)
  })
})

describe('checking', () => {
  test('lists what an activation would refuse, staged or saved, and changes nothing', async () => {
    const block = await replyBlock()
    const content = { ...contentOf(block), in_pins: [] }
    const on = objectOf((await blocks()).find(({ type }) => type === 'on_startup_register_uri_get'))
    await edits(
      { guid: guidOf(block), update_hash: hashOf(block), content },
      { guid: guidOf(on), update_hash: hashOf(on), content: { ...contentOf(on), in_pins: [] } },
    )
    const check = async (state: string) =>
      objectsOf(objectOf(await quoin.manage('POST', `/blueprints/check/${blueprint}`, { state })).problems)
    expect(await check('saved')).toEqual([])
    expect((await check('staged')).map(({ block: guid, pin }) => [guid, pin])).toEqual([[guidOf(on), 'uri']])
    expect(await answer()).toBe('one')
  })

  test('a URI that another blueprint answers is a problem of the whole', async () => {
    const other = await quoin.manage('POST', '/blueprints', { name: 'Other' })
    await quoin.manage('POST', '/blueprintactions', {
      blueprint_guid: guidOf(other),
      type: 'on_startup_register_uri_get',
      in_pins: [{ id: 'uri', value: word }],
    })
    const checked = objectOf(await quoin.manage('POST', `/blueprints/check/${guidOf(other)}`, {}))
    expect(objectsOf(checked.problems)).toEqual([{ block: '', message: expect.stringContaining(word) }])
  })
})

describe('versions', () => {
  test('a former one answers again, as a new one, and the saved blocks stay', async () => {
    const block = await replyBlock()
    const change = saying(block, 'two')
    await edits({ guid: guidOf(block), update_hash: hashOf(block), content: change })
    await quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
    await quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
    expect(await answer()).toBe('two')
    const versions = async () =>
      objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/versions`)).map((one) => [
        one.number,
        one.live,
      ])
    expect(await versions()).toEqual([
      [2, true],
      [1, false],
    ])
    await quoin.manage('POST', `/blueprints/${blueprint}/versions/1/rollback`)
    expect(await answer()).toBe('one')
    expect(await versions()).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
    const pending = objectsOf(await quoin.manage('GET', `/blueprints/deploy/${blueprint}/actions`))
    expect(pending.map(({ guid }) => guid)).toEqual([guidOf(block)])
  })

  test('one that never was is 404, and who may only look cannot roll back', async () => {
    const path = `/blueprints/${blueprint}/versions`
    expect((await quoin.send('GET', `${path}/9`, { as: 'viewer' })).status).toBe(404)
    expect((await quoin.send('POST', `${path}/1/rollback`, { as: 'viewer' })).status).toBe(403)
    expect((await quoin.send('POST', `${path}/9/rollback`, { as: 'admin' })).status).toBe(404)
    const first = objectOf(await quoin.manage('GET', `${path}/1`))
    expect([first.number, objectsOf(first.blocks).length]).toEqual([1, 2])
  })
})

test('remarks on the canvas are kept, and a stale change of them is refused', async () => {
  const read = async () => objectOf(await quoin.manage('GET', `/blueprints/${blueprint}`))
  const note = {
    id: 'a',
    kind: 'note',
    text: 'Why',
    color: 'yellow',
    position: { x: 1, y: 2 },
    size: { width: 200, height: 100 },
  }
  const hash = hashOf(await read())
  await quoin.manage('PUT', `/blueprints/${blueprint}`, { notes: [note], update_hash: hash })
  expect((await read()).notes).toEqual([note])
  const path = `/blueprints/${blueprint}`
  const stale = await quoin.send('PUT', path, { as: 'admin', body: { notes: [], update_hash: hash } })
  expect(stale.status).toBe(409)
  expect((await read()).notes).toEqual([note])
})

test('the catalogue says which pins settings add, as the blocks themselves do', async () => {
  const all = objectsOf(await quoin.manage('GET', '/blocks'))
  const adds = (identifier: string) =>
    objectOf(objectOf(all.find((one) => one.identifier === identifier)).adds)
  expect(all.length).toBeGreaterThan(40)
  expect(Object.keys(objectOf(adds('object_new_fields').in))).toEqual(['fields'])
  expect(Object.keys(objectOf(adds('object_update_fields').out))).toEqual(['out_fields'])
  expect(adds('trigger_custom_function').custom_out).toBe(true)
  expect(adds('branch')).toEqual({ in: {}, out: {}, custom_out: false })
})
