import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import queryBoolTermFields from './query_bool_term_fields.ts'

const term = (value: string | number | boolean) => ({ kind: 'term', field: 'f', value })
const terms = (...values: (string | number | boolean)[]) => ({ kind: 'terms', field: 'f', values })
const empty = { kind: 'or', queries: [{ kind: 'not', query: { kind: 'exists', field: 'f' } }, term('')] }

describe('query_bool_term_fields', () => {
  test.each([
    ['no field', { value: 'a' }, 'field', /is empty/],
    ['an empty field', { field: '', value: 'a' }, 'field', /^is empty$/],
    [
      'a field with a quote',
      { field: 'a"b', value: 'a' },
      'field',
      /is not a field name: it contains a quote/,
    ],
    ['a field of the language', { field: '__proto__', value: 'a' }, 'field', /may not use __proto__/],
    ['an object', { field: 'f', value: { a: 1 } }, 'value', /must be text, a number/],
    ['a list in a list', { field: 'f', value: [['a']] }, 'value', /must be text, a number/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(queryBoolTermFields, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['text', 'open', term('open')],
    ['a number', 5, term(5)],
    ['zero', 0, term(0)],
    ['false', false, term(false)],
    ['a list', ['a', 5, true], terms('a', 5, true)],
    ['text that spells a number', '5', terms('5', 5)],
    ['text that spells a negative number', '-1.50', terms('-1.50', -1.5)],
    ['text that spells a boolean', 'false', terms('false', false)],
    ['in a list too', ['5', 5, 'x'], terms('5', 5, 'x')],
    ['not what only looks like a number', '007', term('007')],
    ['nor with spaces', ' 5', term(' 5')],
    ['nor in upper case', 'TRUE', term('TRUE')],
    ['nor what a number would round', '9007199254740993', term('9007199254740993')],
    ['nor what is no finite number', '1e999', term('1e999')],
    ['null beside others is nothing', [null, 'a'], term('a')],
    ['empty text beside others is a value', ['', 'a'], terms('', 'a')],
  ])('%s', async (_name, value, query) => {
    const { outputs } = await runBlock(queryBoolTermFields, { inputs: { field: 'f', value } })
    expect(outputs).toEqual({ query })
  })

  test.each([
    ['missing', undefined],
    ['null', null],
    ['empty text', ''],
    ['an empty list', []],
    ['a list of empty ones', ['', null]],
  ])('%s is empty: found as such, or no filter', async (_name, value) => {
    const asked = await runBlock(queryBoolTermFields, { inputs: { field: 'f', value } })
    expect(asked.outputs).toEqual({ query: empty })
    const ignored = await runBlock(queryBoolTermFields, { inputs: { field: 'f', value, ignore_empty: true } })
    expect(ignored.outputs).toEqual({ query: undefined })
  })

  test('ignore_empty leaves values that are there, and drops the empty ones of a list', async () => {
    const input = { field: 'f', value: ['', 'a'], ignore_empty: true }
    expect((await runBlock(queryBoolTermFields, { inputs: input })).outputs).toEqual({ query: term('a') })
    const zero = { field: 'f', value: 0, ignore_empty: true }
    expect((await runBlock(queryBoolTermFields, { inputs: zero })).outputs).toEqual({ query: term(0) })
  })
})
