import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import setCustomField from './mutations_set_custom_field.ts'

const before = { op: 'set', field: 'status', value: 'open' }

describe('mutations_set_custom_field', () => {
  test.each([
    ['no field', { value: 1 }, 'field', /is empty/],
    ['an empty field', { field: '', value: 1 }, 'field', /^is empty$/],
    ['a bad field', { field: 'constructor', value: 1 }, 'field', /may not use constructor/],
    ['_meta', { field: '_meta', value: {} }, 'field', /belongs to _meta/],
    ['a field of _meta', { field: '_meta.guid', value: 'x' }, 'field', /belongs to _meta/],
    ['a bad field without a value', { field: 'a..b' }, 'field', /empty part/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(setCustomField, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['a value', { field: 'n', value: 5 }, [{ op: 'set', field: 'n', value: 5 }]],
    ['an object', { field: 'a.b', value: { c: [1] } }, [{ op: 'set', field: 'a.b', value: { c: [1] } }]],
    ['null', { field: 'n', value: null }, [{ op: 'set', field: 'n', value: null }]],
    ['empty text', { field: 'n', value: '' }, [{ op: 'set', field: 'n', value: '' }]],
    [
      'a date as text',
      { field: 'n', value: new Date(0) },
      [{ op: 'set', field: 'n', value: '1970-01-01T00:00:00.000Z' }],
    ],
    [
      'behind what came in',
      { field: 'n', value: 5, mutations: [before] },
      [before, { op: 'set', field: 'n', value: 5 }],
    ],
    ['nothing without a value', { field: 'n' }, []],
    ['only what came in without a value', { field: 'n', mutations: [before] }, [before]],
  ])('%s', async (_name, inputs, mutations) => {
    const { outputs } = await runBlock(setCustomField, { inputs })
    expect(outputs).toEqual({ mutations })
  })
})
