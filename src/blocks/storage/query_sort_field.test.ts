import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import querySortField from './query_sort_field.ts'

describe('query_sort_field', () => {
  test.each([
    ['no field', {}, 'field', /is empty/],
    ['a bad field', { field: 'a.' }, 'field', /empty part/],
    ['another order', { field: 'a', order: 'up' }, 'order', /must be one of asc, desc/],
    ['another place', { field: 'a', missing: 'nowhere' }, 'missing', /must be one of first, last/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(querySortField, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['as it stands', { field: 'title' }, { field: 'title', order: 'asc', missing: 'last' }],
    [
      'the other way',
      { field: '_meta.created', order: 'desc', missing: 'first' },
      { field: '_meta.created', order: 'desc', missing: 'first' },
    ],
    [
      'empty choices are the defaults',
      { field: 'a.b', order: '', missing: null },
      { field: 'a.b', order: 'asc', missing: 'last' },
    ],
  ])('%s', async (_name, inputs, sort) => {
    const { outputs } = await runBlock(querySortField, { inputs })
    expect(outputs).toEqual({ sort })
  })
})
