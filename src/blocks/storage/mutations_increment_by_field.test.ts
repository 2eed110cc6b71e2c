import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import incrementByField from './mutations_increment_by_field.ts'

const before = { op: 'remove', field: 'draft' }

describe('mutations_increment_by_field', () => {
  test.each([
    ['no field', {}, 'field', /is empty/],
    ['an empty field', { field: '' }, 'field', /^is empty$/],
    ['a bad field', { field: 'a..b' }, 'field', /empty part/],
    ['a field of _meta', { field: '_meta.created' }, 'field', /belongs to _meta/],
    ['text as amount', { field: 'n', amount: 'many' }, 'amount', /must be a number/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(incrementByField, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['by one', { field: 'n' }, [{ op: 'increment', field: 'n', amount: 1 }]],
    ['by an amount', { field: 'a.n', amount: '2.5' }, [{ op: 'increment', field: 'a.n', amount: 2.5 }]],
    ['down', { field: 'n', amount: -3 }, [{ op: 'increment', field: 'n', amount: -3 }]],
    ['by nothing', { field: 'n', amount: 0 }, [{ op: 'increment', field: 'n', amount: 0 }]],
    [
      'behind what came in',
      { field: 'n', mutations: [before] },
      [before, { op: 'increment', field: 'n', amount: 1 }],
    ],
  ])('%s', async (_name, inputs, mutations) => {
    const { outputs } = await runBlock(incrementByField, { inputs })
    expect(outputs).toEqual({ mutations })
  })
})
