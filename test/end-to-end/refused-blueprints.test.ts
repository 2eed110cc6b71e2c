/** Blueprints that cannot run, or may not: every problem is named, and everything stays as it was. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reservedRoots } from '../../src/http/server/reserved-roots.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let word: string
let count = 0

beforeAll(async () => {
  quoin = await openTestQuoin()
})

afterAll(() => quoin.close())

beforeEach(() => {
  word = `word-${count++}`
})

const nobody = '01900000-0000-7000-8000-000000000000'
const saying = (uri: string, value: JsonValue): JsonObject => ({
  on: { type: 'on_startup_register_uri_get', in: { uri } },
  reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
})
const statusOf = async (uri: string) => (await quoin.send('GET', `/${uri}`)).status
const setActive = (guid: string): Promise<Answer> =>
  quoin.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'admin' })
const setInactive = (guid: string) => quoin.manage('PUT', `/blueprints/update/set/inactive/${guid}`)

/** Makes an empty blueprint and gives its guid. */
const newBlueprint = async () => guidOf(await quoin.manage('POST', '/blueprints', { name: word }))

async function addBlock(blueprint: string, type: string, pins: JsonObject = {}, more: JsonObject = {}) {
  const in_pins = Object.entries(pins).map(([id, value]) => {
    const [block = '', pin = ''] =
      typeof value === 'string' && value.startsWith('@') ? value.slice(1).split('.') : []
    return block === '' ? { id, value } : { id, from: [{ block, pin }] }
  })
  const body = { type, blueprint_guid: blueprint, in_pins, ...more }
  return guidOf(await quoin.manage('POST', '/blueprintactions', body))
}

describe('a block that can never work is not stored', () => {
  const cases: [string, JsonObject, RegExp][] = [
    ['an unknown type', { type: 'no_such_block' }, /type/],
    ['an unknown pin', { type: 'branch', in_pins: [{ id: 'nope', value: 1 }] }, /nope/],
    [
      'a value of the wrong kind',
      { type: 'function_search', in_pins: [{ id: 'limit', value: 'abc' }] },
      /limit/,
    ],
    ['a value out of range', { type: 'function_search', in_pins: [{ id: 'limit', value: -1 }] }, /limit/],
    [
      'a literal where only a wire can be',
      { type: 'function_search', in_pins: [{ id: 'query', value: {} }] },
      /query/,
    ],
    [
      'a wire between types that do not convert',
      { type: 'function_search', in_pins: [{ id: 'storage', from: [{ block: 'VALUE', pin: 'value' }] }] },
      /storage/,
    ],
    [
      'a wire from a pin that is not there',
      { type: 'branch', in_pins: [{ id: 'condition', from: [{ block: 'VALUE', pin: 'nope' }] }] },
      /condition/,
    ],
    [
      'two wires on a pin for one',
      {
        type: 'branch',
        in_pins: [
          {
            id: 'condition',
            from: [
              { block: 'VALUE', pin: 'value' },
              { block: 'VALUE', pin: 'value' },
            ],
          },
        ],
      },
      /condition/,
    ],
    [
      'a pin that is wired and holds a value',
      {
        type: 'branch',
        in_pins: [{ id: 'condition', value: true, from: [{ block: 'VALUE', pin: 'value' }] }],
      },
      /condition/,
    ],
    ['a setting that the block does not have', { type: 'branch', fields: { colour: 1 } }, /fields\.colour/],
    ['a field that blocks do not have', { type: 'branch', colour: 'red' }, /colour/],
    ['an in-pin that is no object', { type: 'branch', in_pins: ['condition'] }, /in_pins/],
  ]
  test.each(cases)('%s', async (_name, block, field) => {
    const blueprint = await newBlueprint()
    const value = await addBlock(blueprint, 'value_default', { default: 'x' })
    const body = JSON.parse(JSON.stringify(block).replaceAll('VALUE', value))
    const answer = await quoin.send('POST', '/blueprintactions', {
      as: 'admin',
      body: { blueprint_guid: blueprint, ...body },
    })
    expect(answer, answer.text).toMatchObject({ status: 400, body: { error: 'INVALID_BODY', code: 400 } })
    expect(JSON.stringify(objectOf(answer.body).fields)).toMatch(field)
    const search = { filters: { blueprint_guid: blueprint }, count: true }
    expect(await quoin.manage('POST', '/blueprintactions/search', search)).toEqual({ count: 1 })
  })

  test('nor is one of an unknown blueprint', async () => {
    const body = { type: 'branch', blueprint_guid: nobody }
    const answer = await quoin.send('POST', '/blueprintactions', { as: 'admin', body })
    expect(answer).toMatchObject({ status: 400, body: { fields: ['blueprint_guid'] } })
  })
})

describe('a setting that its block does not have', () => {
  const type = 'on_startup_register_uri_post'
  const pins = { id: 'uri', value: 'unknown-settings' }
  const cases: [string, JsonObject, RegExp][] = [
    ['a misspelled one names the right one', { sumary: 'a' }, /no setting sumary\. Did you mean summary\?/],
    ['one that is a pin says so', { uri: 'a' }, /no setting uri\. uri is an in-pin of it\./],
    ['one like no other lists what there is', { nonsense: 'a' }, /no setting nonsense\. It has .*accepts/],
    ['a name of every object is none', JSON.parse('{"constructor": 1}'), /no setting constructor/],
    ['a long name is cut', { ['x'.repeat(5_000)]: 1 }, /^.{0,600}$/],
  ]
  test.each(cases)('%s', async (_name, fields, message) => {
    const blueprint = await newBlueprint()
    const body = { type, blueprint_guid: blueprint, fields }
    const answer = await quoin.send('POST', '/blueprintactions', { as: 'admin', body })
    expect([answer.status, objectOf(answer.body).message]).toEqual([400, expect.stringMatching(message)])
  })

  test('is refused by updates and edits, and nothing is stored', async () => {
    const blueprint = await newBlueprint()
    const guid = await addBlock(blueprint, type, { uri: word })
    const fields = { sumary: 'a' }
    const content = {
      ...{ type, title: '', description: '', position: { x: 0, y: 0 } },
      ...{ in_pins: [pins], custom_out_pins: [], fields, scopes: [] },
    }
    const block = await quoin.manage('GET', `/blueprintactions/${guid}`)
    const hash = objectOf(objectOf(block)._meta).update_hash
    const edit = { guid, update_hash: hash ?? null, content }
    const answers = [
      await quoin.send('PUT', `/blueprintactions/${guid}`, { as: 'admin', body: { fields } }),
      await quoin.send('POST', `/blueprints/${blueprint}/edits`, { as: 'admin', body: { edits: [edit] } }),
    ]
    for (const { status, body, text } of answers) {
      expect(status, text).toBe(400)
      expect(body).toMatchObject({ fields: ['fields.sumary'], message: expect.stringMatching(/summary\?/) })
    }
    expect(await quoin.manage('GET', `/blueprintactions/${guid}`)).toEqual(block)
  })

  test('counts as not set where it is null or empty', async () => {
    const fields = { sumary: null, nonsense: '' }
    const guid = await addBlock(await newBlueprint(), type, {}, { fields })
    expect(guid).not.toBe('')
  })
})

describe('422 with every problem', () => {
  type Broken = (blueprint: string) => Promise<[block: string, pin: string, message: RegExp][]>

  const broken: Record<string, Broken> = {
    'missing wires and settings, all of them': async (blueprint) => {
      const search = await addBlock(blueprint, 'function_search')
      const read = await addBlock(blueprint, 'function_get_document')
      const storage = await addBlock(blueprint, 'storage')
      const on = await addBlock(blueprint, 'on_startup_register_uri_get')
      return [
        [search, 'storage', /needed/],
        [read, 'storage', /needed/],
        [read, 'guid', /needed/],
        [storage, 'storage', /setting/],
        [on, 'uri', /needed/],
      ]
    },
    'a wire from a block that is not there': async (blueprint) => {
      const reply = await addBlock(blueprint, 'httpconnection_set_json', { flow: `@${nobody}.flow` })
      return [[reply, 'flow', /not in the blueprint/]]
    },
    'values that depend on themselves': async (blueprint) => {
      const first = await addBlock(blueprint, 'value_default')
      const second = await addBlock(blueprint, 'value_default', { value: `@${first}.value` })
      const in_pins = [{ id: 'value', from: [{ block: second, pin: 'value' }] }]
      await quoin.manage('PUT', `/blueprintactions/${first}`, { in_pins })
      await quoin.manage('POST', `/blueprintactions/unsaved/${first}`)
      return [[second, 'value', /depends on itself/]]
    },
    'a loop pin that is read outside its loop': async (blueprint) => {
      const on = await addBlock(blueprint, 'on_startup_register_uri_get', { uri: `${word}-loop` })
      const map = await addBlock(blueprint, 'array_map', { array: [1, 2] })
      const pins = { flow: `@${on}.flow`, value: `@${map}.item` }
      const reply = await addBlock(blueprint, 'httpconnection_set_json', pins)
      return [[reply, 'value', /only inside array_map/]]
    },
    'two triggers for one address, however its parameter is called': async (blueprint) => {
      await addBlock(blueprint, 'on_startup_register_uri_get', { uri: `${word}-x/{id}` })
      const second = await addBlock(blueprint, 'on_startup_register_uri_get', { uri: `/${word}-x/:guid` })
      return [[second, 'uri', /taken/]]
    },
    'addresses that cannot be': async (blueprint) => {
      const uris = ['a//b', 'a b', '../a', 'a/{x}/{x}', 'a/{rest...}/b', 'api/v1/a', 'ä']
      const found: [string, string, RegExp][] = []
      for (const uri of uris)
        found.push([
          await addBlock(blueprint, 'on_startup_register_uri_get', { uri }),
          'uri',
          /^uri (has|may|must)/,
        ])
      return found
    },
    'an address that depends on the request': async (blueprint) => {
      const sent = await addBlock(blueprint, 'httpconnection_get_params', { field: 'x' })
      const on = await addBlock(blueprint, 'on_startup_register_uri_get', { uri: `@${sent}.value` })
      return [[on, 'uri', /must not depend on a run/]]
    },
  }

  test.each(Object.entries(broken))('%s', async (_name, breaking) => {
    const blueprint = await quoin.install(word, saying(word, 'old'))
    const storages = quoin.quoin.database.names()
    const expected = await breaking(blueprint)
    for (const answer of [
      await setActive(blueprint),
      await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: 'admin' }),
    ]) {
      expect(answer).toMatchObject({ status: 422, body: { error: 'VALIDATION_FAILED', code: 422 } })
      const problems = objectsOf(objectOf(answer.body).problems)
      expect(problems).toHaveLength(expected.length)
      for (const [block, pin, words] of expected)
        expect(problems.find((one) => one.block === block && one.pin === pin)?.message).toMatch(words)
      // A log shows nothing but the message.
      for (const one of problems.slice(0, 3)) expect(objectOf(answer.body).message).toContain(one.message)
    }
    // The former deployment answers, and nothing of the new one is there.
    expect((await quoin.send('GET', `/${word}`)).body).toBe('old')
    expect(await quoin.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: true, version: 1 })
    expect(quoin.quoin.database.names()).toEqual(storages)
  })

  test('a blueprint that was never active stays inactive', async () => {
    const blueprint = await newBlueprint()
    await addBlock(blueprint, 'function_search')
    expect((await setActive(blueprint)).status).toBe(422)
    expect(await quoin.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false, version: 0 })
  })
})

describe('409', () => {
  const claims: [string, string][] = [
    ['the same', 'a'],
    ['with a parameter of another name', 'a/{id}'],
    ['with a rest of another name', 'a/{path...}'],
  ]
  test.each(claims)('an address of another active blueprint, %s', async (_name, suffix) => {
    const owner = await quoin.install('The owner', saying(`${word}/${suffix}`, 'owner'))
    const other = await newBlueprint()
    const uri = `/${word}/${suffix.replace('{id}', ':guid').replace('path...', 'all...')}`
    const on = await addBlock(other, 'on_startup_register_uri_get', { uri })
    await addBlock(other, 'httpconnection_set_json', { flow: `@${on}.flow`, value: 'other' })
    const refused = await setActive(other)
    expect(refused).toMatchObject({ status: 409, body: { error: 'CONFLICT', code: 409 } })
    expect(objectOf(refused.body).message).toContain('"The owner"')
    expect(objectOf(refused.body).message).toContain(owner)
    expect(await quoin.manage('GET', `/blueprints/${other}`)).toMatchObject({ active: false, version: 0 })
    expect((await quoin.send('GET', `/${word}/a`)).body === 'owner').toBe(suffix === 'a')
    await setInactive(owner)
    expect((await setActive(other)).status).toBe(200)
    expect((await setActive(owner)).status).toBe(409)
    await setInactive(other)
  })

  test('another method at the same address is free', async () => {
    await quoin.install(word, saying(word, 'get'))
    await quoin.install('put', {
      on: { type: 'on_startup_register_uri_put', in: { uri: word } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'put' } },
    })
    expect((await quoin.send('GET', `/${word}`)).body).toBe('get')
    expect((await quoin.send('PUT', `/${word}`, { body: {} })).body).toBe('put')
  })

  test('of two that are activated at once, one gets the address', async () => {
    const both: string[] = []
    for (let i = 0; i < 2; i++) {
      const blueprint = await newBlueprint()
      await addBlock(blueprint, 'on_startup_register_uri_get', { uri: word })
      both.push(blueprint)
    }
    const answers = await Promise.all(both.map(setActive))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('a custom function that another active blueprint has', async () => {
    const named: JsonObject = { f: { type: 'trigger_custom_function', fields: { name: word } } }
    await quoin.install('The owner', named)
    await expect(quoin.install('other', named)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test.each([...reservedRoots])('the root %s is Quoin’s own', async (root) => {
    const blueprint = await newBlueprint()
    await addBlock(blueprint, 'on_startup_register_uri_get', { uri: `${root}/x` })
    const refused = await setActive(blueprint)
    expect(refused).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
    expect(objectOf(refused.body).message).toContain(root)
    expect(await quoin.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false })
  })

  test('an address that begins with a parameter shadows nothing of Quoin’s own', async () => {
    const blueprint = await quoin.install('everything', saying('{any...}', 'shadow'))
    expect(await statusOf('whatever/there/is')).toBe(200)
    expect((await quoin.send('GET', '/info')).body).toMatchObject({ name: 'Quoin' })
    expect(await statusOf('users/me')).toBe(401)
    expect(await statusOf('openapi.json')).toBe(200)
    await setInactive(blueprint)
  })
})
