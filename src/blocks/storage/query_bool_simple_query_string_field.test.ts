import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import freeText from './query_bool_simple_query_string_field.ts'

const words = (text: string, ...fields: string[]) => ({ kind: 'simple_query_string', fields, text })
const nothing = { kind: 'or', queries: [] }

describe('query_bool_simple_query_string_field', () => {
  test.each([
    ['a bad field', { field: ['title', 'a..b'], value: 'x' }, 'field', /empty part/],
    ['nine misspelled words', { value: 'word~1|'.repeat(9) }, 'value', /has 9 words .* at most 8 fit/],
    [
      'nine phrases with gaps',
      { value: '("a b"~9)-"a b"~1 '.repeat(5) },
      'value',
      /has 10 phrases .* at most 8 fit/,
    ],
    ['an object as text', { value: { a: 1 } }, 'value', /must be text/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(freeText, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['all text', { value: 'roof -tile' }, words('roof -tile')],
    ['one field', { field: 'title', value: 'roof' }, words('roof', 'title')],
    ['several fields', { field: ['title', 'note.text'], value: 'roof' }, words('roof', 'title', 'note.text')],
    ['an empty field is none', { field: [''], value: 'roof' }, words('roof')],
    ['a number is text', { value: 5 }, words('5')],
    ['eight misspelled words', { value: 'word~2 '.repeat(8) }, words('word~2 '.repeat(8))],
    ['no filter without text', {}, undefined],
    ['no filter of blank text', { value: '  ' }, undefined],
    ['finds nothing without text if that counts', { ignore_empty: false }, nothing],
    ['finds nothing with blank text if that counts', { value: ' ', ignore_empty: false }, nothing],
  ])('%s', async (_name, inputs, query) => {
    const { outputs } = await runBlock(freeText, { inputs })
    expect(outputs).toEqual({ query })
  })
})
