import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import type { JsonValue } from '../../shared/json.ts'
import setFields from './mutations_set_bp_field_multiple.ts'

const set = (field: string, value: JsonValue) => ({ op: 'set', field, value })
const before = { op: 'increment', field: 'changes', amount: 1 }

describe('mutations_set_bp_field_multiple', () => {
  test.each([
    ['text', 'title=a'],
    ['a list', [{ title: 'a' }]],
    ['a number', 5],
    ['null', null],
  ])('refuses %s as object', async (_name, object) => {
    const error = await runBlock(setFields, { inputs: { object } }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin: 'object', message: 'must be an object' })
  })

  test.each([
    ['a key with a quote', 'a"b', { 'a"b': 1 }],
    ['an empty key', '', { '': 1 }],
    ['a key of the language', 'constructor', JSON.parse('{"constructor":1}')],
    ['a path of the language', 'a.__proto__.b', { 'a.__proto__.b': 1 }],
  ])('refuses %s, naming the field', async (_name, field, object) => {
    await expect(runBlock(setFields, { inputs: { object } })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      fields: [field],
    })
  })

  test('refuses a chosen field of _meta', async () => {
    const input = { fields: { fields: ['_meta.guid'] }, more: { '_meta.guid': 'x' } }
    await expect(runBlock(setFields, input)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      fields: ['_meta.guid'],
    })
  })

  test.each([
    ['a pin', ['title'], {}, { title: 'a' }, [set('title', 'a')]],
    ['pins in the order of the fields', ['b', 'a'], {}, { a: 1, b: 2 }, [set('b', 2), set('a', 1)]],
    ['a pin that reaches into an object', ['a.b'], {}, { 'a.b': 1 }, [set('a.b', 1)]],
    ['null by pin', ['title'], {}, { title: null }, [set('title', null)]],
    [
      'false, 0 and empty text by pin',
      ['a', 'b', 'c'],
      {},
      { a: false, b: 0, c: '' },
      [set('a', false), set('b', 0), set('c', '')],
    ],
    ['not what an empty pin would set', ['title', 'note'], {}, { title: undefined }, []],
    [
      'all keys of an object',
      [],
      { object: { a: 1, 'b.c': [2], d: null } },
      {},
      [set('a', 1), set('b.c', [2]), set('d', null)],
    ],
    ['not its _meta', [], { object: { _meta: { guid: 'x' }, '_meta.guid': 'x', a: 1 } }, {}, [set('a', 1)]],
    ['only the chosen keys', ['title'], { object: { title: 'a', admin: true } }, {}, [set('title', 'a')]],
    ['what lies under a chosen key', ['a'], { object: { 'a.b': 1, ab: 2 } }, {}, [set('a.b', 1)]],
    [
      'of a nested object only what is chosen',
      ['a.b', 'a.x'],
      { object: { a: { b: 1, c: 2 } } },
      {},
      [set('a.b', 1)],
    ],
    [
      'pins behind the object, so that they win',
      ['title'],
      { object: { title: 'a' } },
      { title: 'b' },
      [set('title', 'a'), set('title', 'b')],
    ],
    [
      'everything behind what came in',
      ['a'],
      { mutations: [before], object: { a: 1 } },
      {},
      [before, set('a', 1)],
    ],
    [
      'fields named like the pins of the block, through the object',
      ['object', 'mutations'],
      { object: { object: 1, mutations: 2, x: 3 } },
      {},
      [set('object', 1), set('mutations', 2)],
    ],
    ['nothing of nothing', [], {}, {}, []],
  ])('sets %s', async (_name, fields, inputs, more, mutations) => {
    const { outputs } = await runBlock(setFields, { fields: { fields }, inputs, more })
    expect(outputs).toEqual({ mutations })
  })

  test('has a pin for each chosen field that is no pin already', () => {
    const pins = setFields.moreIn?.({ fields: ['title', 'object', 'a.b', 'mutations'] })
    expect(Object.keys(pins ?? {})).toEqual(['title', 'a.b'])
  })
})
