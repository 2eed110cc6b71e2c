/** Staged, saved, deployed: what is not deployed is not run, whatever was done to the blocks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type Sent, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let blueprint: string
let word: string
let trigger: string
let reply: string
let count = 0
const nobody = '01900000-0000-7000-8000-000000000000'

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('viewer', ['blueprintactions_view', 'blueprints_view'])
  await quoin.addUser('maker', ['blueprintactions_view', 'blueprintactions_create'])
})

afterAll(() => quoin.close())

// Each test has a blueprint of its own, active, that answers its word with "one".
beforeEach(async () => {
  word = `word-${count++}`
  blueprint = await quoin.install(word, {
    on: { type: 'on_startup_register_uri_get', in: { uri: word } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'one' } },
  })
  const [first, second] = await blocks()
  trigger = guidOf(first)
  reply = guidOf(second)
})

async function blocks(): Promise<JsonObject[]> {
  const body = { filters: { blueprint_guid: blueprint }, sort: [{ '_meta.cms': 'asc' }] }
  return objectsOf(await quoin.manage('POST', '/blueprintactions/search', body))
}

const block = async (guid: string) => objectOf(await quoin.manage('GET', `/blueprintactions/${guid}`))
const answerOf = async (uri = word) => {
  const { status, body } = await quoin.send('GET', `/${uri}`)
  return status === 200 ? body : status
}
const pending = async () => {
  const actions = objectsOf(await quoin.manage('GET', `/blueprints/deploy/${blueprint}/actions`))
  return actions.map(({ guid, change }) => [guid, change])
}
const version = async () => objectOf(await quoin.manage('GET', `/blueprints/${blueprint}`)).version
const flowFrom = (guid: string) => ({ id: 'flow', from: [{ block: guid, pin: 'flow' }] })
const saying = (value: JsonValue) => ({ in_pins: [flowFrom(trigger), { id: 'value', value }] })
const stage = (value: JsonValue) => quoin.manage('PUT', `/blueprintactions/${reply}`, saying(value))
const save = (guid: string) => quoin.manage('POST', `/blueprintactions/unsaved/${guid}`)
const discard = (guid: string) => quoin.manage('DELETE', `/blueprintactions/unsaved/${guid}`)
const deploy = () => quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
const activate = () => quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`)

/** Stages a second endpoint with its reply. Gives the guids of both. */
async function stageSecond(uri: string): Promise<[string, string]> {
  const made = { blueprint_guid: blueprint, staged: true }
  const on = { ...made, type: 'on_startup_register_uri_get', in_pins: [{ id: 'uri', value: uri }] }
  const first = guidOf(await quoin.manage('POST', '/blueprintactions', on))
  const says = { ...made, type: 'httpconnection_set_json', in_pins: [flowFrom(first)] }
  return [first, guidOf(await quoin.manage('POST', '/blueprintactions', says))]
}

describe('who may', () => {
  const paths = () =>
    [
      ['PUT', `/blueprintactions/${reply}`, saying('other')],
      ['DELETE', `/blueprintactions/${reply}`, undefined],
      ['POST', `/blueprintactions/unsaved/${blueprint}`, undefined],
      ['DELETE', `/blueprintactions/unsaved/${blueprint}`, undefined],
      ['POST', `/blueprints/deploy/${blueprint}`, undefined],
      ['PUT', `/blueprints/update/set/inactive/${blueprint}`, undefined],
      ['PUT', `/blueprints/update/set/active/${blueprint}`, undefined],
      ['DELETE', `/blueprints/${blueprint}`, undefined],
    ] as const

  test.each([
    [undefined, 401],
    ['viewer', 403],
    ['maker', 403],
  ])('%s gets %i everywhere, and nothing moved', async (as, status) => {
    await stage('two')
    const before = [await blocks(), await version()]
    for (const [method, path, body] of paths()) {
      const sent: Sent = { ...(as !== undefined && { as }), ...(body !== undefined && { body }) }
      expect([method, path, (await quoin.send(method, path, sent)).status]).toEqual([method, path, status])
    }
    expect([await blocks(), await version()]).toEqual(before)
    expect(await answerOf()).toBe('one')
  })

  test('a user who may only create cannot change existing blocks', async () => {
    const body = { blueprint_guid: blueprint, type: 'query_and' }
    expect((await quoin.send('POST', '/blueprintactions', { body })).status).toBe(401)
    expect((await quoin.send('POST', '/blueprintactions', { as: 'viewer', body })).status).toBe(403)
    expect(await blocks()).toHaveLength(2)
    expect((await quoin.send('POST', '/blueprintactions', { as: 'maker', body })).status).toBe(200)
    expect(await blocks()).toHaveLength(3)
  })

  test.each([
    ['PUT', `/blueprintactions/${nobody}`],
    ['DELETE', `/blueprintactions/${nobody}`],
    ['GET', `/blueprintactions/${nobody}`],
    ['POST', `/blueprintactions/unsaved/${nobody}`],
    ['DELETE', `/blueprintactions/unsaved/${nobody}`],
    ['POST', `/blueprints/deploy/${nobody}`],
    ['GET', `/blueprints/deploy/${nobody}/actions`],
    ['PUT', `/blueprints/update/set/active/${nobody}`],
    ['PUT', `/blueprints/update/set/inactive/not-a-guid`],
  ] as const)('%s %s is 404', async (method, path) => {
    const body = method === 'PUT' && path.startsWith('/blueprintactions') ? { title: 'x' } : undefined
    const answer = await quoin.send(method, path, { as: 'admin', ...(body && { body }) })
    expect(answer).toMatchObject({ status: 404, body: { error: 'NOT_FOUND', code: 404 } })
  })
})

describe('a change', () => {
  test('staged: nothing but `unsaved` shows it, and no request runs it', async () => {
    const before = await block(reply)
    await stage('two')
    const { unsaved, _meta, ...rest } = await block(reply)
    const { unsaved: nothing, _meta: was, ...saved } = before
    expect([rest, nothing]).toEqual([saved, null])
    expect(_meta).not.toEqual(was)
    expect(unsaved).toMatchObject({ change: 'updated', by: { username: 'admin' }, ...saying('two') })
    expect([await answerOf(), await pending()]).toEqual(['one', []])
    await deploy()
    expect([await answerOf(), await version()]).toEqual(['one', 1])
  })

  test('discarded: as if it had never been', async () => {
    await stage('two')
    expect(await discard(reply)).toHaveLength(1)
    expect(objectOf(await block(reply)).unsaved).toBeNull()
    await deploy()
    expect([await answerOf(), await version()]).toEqual(['one', 1])
  })

  test('saved: it waits to be deployed, and the list of actions shows what would change', async () => {
    await stage('two')
    expect(await save(reply)).toMatchObject([{ _meta: { guid: reply }, unsaved: null, ...saying('two') }])
    expect(await answerOf()).toBe('one')
    const actions = await quoin.manage('GET', `/blueprints/deploy/${blueprint}/actions`)
    expect(actions).toMatchObject([
      {
        guid: reply,
        type: 'httpconnection_set_json',
        change: 'updated',
        before: saying('one'),
        after: saying('two'),
      },
    ])
    // What is not content, such as _meta and what is staged, makes no difference and is not shown as one.
    const { after } = objectsOf(actions)[0] ?? {}
    expect(Object.keys(objectOf(after)).sort().join(' ')).toBe(
      'custom_out_pins description fields guid in_pins name position scopes title type',
    )
  })

  test.each([
    ['deploying', deploy],
    ['activating again', activate],
  ])('%s it: requests run it, and nothing is pending', async (_name, act) => {
    await stage('two')
    await save(reply)
    await act()
    expect([await answerOf(), await pending(), await version()]).toEqual(['two', [], 2])
  })

  test('several stagings become one, and the last counts', async () => {
    await stage('two')
    await stage('three')
    await quoin.manage('PUT', `/blueprintactions/${reply}`, { title: 'Says it' })
    await save(blueprint)
    await deploy()
    expect([await answerOf(), await version()]).toEqual(['three', 2])
    expect(await block(reply)).toMatchObject({ title: 'Says it', unsaved: null })
  })

  test('with nothing staged, saving and discarding answer 200 and touch nothing', async () => {
    const before = await blocks()
    for (const guid of [reply, blueprint]) expect([await save(guid), await discard(guid)]).toEqual([[], []])
    expect(await blocks()).toEqual(before)
  })
})

describe('a new block', () => {
  test('staged, it is neither run nor pending; saved for the whole blueprint at once, it waits; deployed, it answers', async () => {
    const uri = `${word}-second`
    const [first, second] = await stageSecond(uri)
    expect(await block(first)).toMatchObject({ is_created: false, unsaved: { change: 'created' } })
    await activate()
    expect([await answerOf(uri), await pending(), await version()]).toEqual([404, [], 1])
    expect(await save(blueprint)).toHaveLength(2)
    expect(await block(first)).toMatchObject({ is_created: true, unsaved: null })
    expect(await answerOf(uri)).toBe(404)
    expect(await pending()).toEqual([
      [first, 'created'],
      [second, 'created'],
    ])
    await deploy()
    expect([await answerOf(uri), await answerOf(), await pending()]).toEqual([null, 'one', []])
  })

  test.each([
    ['discarded', discard],
    ['deleted', (guid: string) => quoin.manage('DELETE', `/blueprintactions/${guid}`)],
  ])('%s while it is only staged, it is gone at once', async (_name, act) => {
    const [, second] = await stageSecond(`${word}-second`)
    await act(second)
    expect((await quoin.send('GET', `/blueprintactions/${second}`, { as: 'admin' })).status).toBe(404)
    expect(await blocks()).toHaveLength(3)
  })

  test('a saved block that is wired to a staged one cannot be deployed until that is saved too', async () => {
    const [first, second] = await stageSecond(`${word}-second`)
    await save(second)
    const refused = await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: 'admin' })
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ block: second, pin: 'flow' }] } })
    expect([await answerOf(), await version()]).toEqual(['one', 1])
    await save(first)
    await deploy()
    expect(await answerOf(`${word}-second`)).toBeNull()
  })
})

describe('a removal', () => {
  test('staged, the block is there and runs; saved, it is gone and still runs; deployed, it is no more', async () => {
    await quoin.manage('DELETE', `/blueprintactions/${reply}`)
    expect(await block(reply)).toMatchObject({ unsaved: { change: 'removed' } })
    expect([await answerOf(), await pending()]).toEqual(['one', []])
    await save(blueprint)
    expect((await quoin.send('GET', `/blueprintactions/${reply}`, { as: 'admin' })).status).toBe(404)
    expect([await answerOf(), await pending()]).toEqual(['one', [[reply, 'removed']]])
    await deploy()
    expect([await answerOf(), await pending()]).toEqual([204, []])
  })

  test('discarded, the block stays; changed instead, it is a change', async () => {
    await quoin.manage('DELETE', `/blueprintactions/${reply}`)
    await discard(reply)
    expect(await block(reply)).toMatchObject({ unsaved: null })
    await quoin.manage('DELETE', `/blueprintactions/${reply}`)
    await stage('two')
    await save(blueprint)
    await deploy()
    expect(await answerOf()).toBe('two')
  })
})

test('deploying an inactive blueprint leaves it inactive; activating then serves what was deployed', async () => {
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await stage('two')
  await save(reply)
  expect(await deploy()).toMatchObject({ active: false, version: 2 })
  expect(await answerOf()).toBe(404)
  expect(await activate()).toMatchObject({ active: true, version: 2 })
  expect(await answerOf()).toBe('two')
})

test('an active blueprint cannot be deleted; an inactive one goes with its blocks', async () => {
  const refused = await quoin.send('DELETE', `/blueprints/${blueprint}`, { as: 'admin' })
  expect(refused).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
  expect([await answerOf(), (await blocks()).length]).toEqual(['one', 2])
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await quoin.manage('DELETE', `/blueprints/${blueprint}`)
  expect((await quoin.send('GET', `/blueprintactions/${reply}`, { as: 'admin' })).status).toBe(404)
  expect(await blocks()).toEqual([])
  const activated = await quoin.send('PUT', `/blueprints/update/set/active/${blueprint}`, { as: 'admin' })
  expect([activated.status, await answerOf()]).toEqual([404, 404])
})
