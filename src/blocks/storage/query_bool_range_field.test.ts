import { describe, expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import rangeField from './query_bool_range_field.ts'

const range = (bounds: object, field = 'due') => ({ kind: 'range', field, bounds })
const either = (numbers: object, texts: object) => ({ kind: 'or', queries: [range(numbers), range(texts)] })
const seconds = (text: string) => Date.parse(text) / 1000

describe('query_bool_range_field', () => {
  test.each([
    ['no field', { gte: 5 }, 'field', /is empty/],
    ['a bad field', { field: 'a..b', gte: 5 }, 'field', /empty part/],
    ['an object', { field: 'due', gte: {} }, 'gte', /must be a number, a date or text/],
    ['a list', { field: 'due', lt: [5] }, 'lt', /must be a number, a date or text/],
    ['a boolean', { field: 'due', lt: true }, 'lt', /must be a number, a date or text/],
    ['a day that is none', { field: 'due', lte: '2026-02-30' }, 'lte', /looks like a date but is not/],
    ['date maths that is none', { field: 'due', gt: 'now-7x' }, 'gt', /cannot continue with "-7x"/],
    ['date maths from a day that is none', { field: 'due', gt: '2026-02-30||+1d' }, 'gt', /must start with/],
    ['a number and text', { field: 'due', gte: 5, lt: 'm' }, 'lt', /another type than the other/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(rangeField, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['numbers', { gte: 1, lt: 5.5 }, range({ gte: 1, lt: 5.5 })],
    ['every bound', { gte: 1, gt: 2, lte: 3, lt: 4 }, range({ gte: 1, gt: 2, lte: 3, lt: 4 })],
    ['text that spells a number may be either', { gte: '10' }, either({ gte: 10 }, { gte: '10' })],
    ['beside a number it is one', { gte: 5, lt: '10' }, range({ gte: 5, lt: 10 })],
    ['text', { gte: 'a', lt: 'm' }, range({ gte: 'a', lt: 'm' })],
    ['text beside text that spells a number', { gte: '1', lt: 'm' }, range({ gte: '1', lt: 'm' })],
    [
      'a day, as seconds or text',
      { gte: '2026-01-01', lt: '2026-02-01' },
      either(
        { gte: seconds('2026-01-01'), lt: seconds('2026-02-01') },
        { gte: '2026-01-01', lt: '2026-02-01' },
      ),
    ],
    [
      'up to a day means to its end, and after a day behind it',
      { gt: '2026-01-01', lte: '2026-02-01' },
      either(
        { gt: seconds('2026-01-01T23:59:59.999Z'), lte: seconds('2026-02-01T23:59:59.999Z') },
        { gt: '2026-01-01T23:59:59Z', lte: '2026-02-01T23:59:59Z' },
      ),
    ],
    [
      'a time in a zone',
      { gte: '2026-01-01T10:00+02:00' },
      either({ gte: seconds('2026-01-01T08:00Z') }, { gte: '2026-01-01T08:00:00' }),
    ],
    [
      'a date from a date pin',
      { gte: new Date('2026-01-01T08:00:00.250Z') },
      either({ gte: seconds('2026-01-01T08:00:00.250Z') }, { gte: '2026-01-01T08:00:00.250Z' }),
    ],
    [
      'date maths',
      { gte: 'now-7d/d', lte: 'now' },
      either(
        { gte: seconds('2026-01-24'), lte: noon / 1000 },
        { gte: '2026-01-24', lte: '2026-01-31T12:00:00Z' },
      ),
    ],
    [
      'up to a rounded day includes it',
      { lte: 'now/d' },
      either({ lte: seconds('2026-01-31T23:59:59.999Z') }, { lte: '2026-01-31T23:59:59Z' }),
    ],
    [
      'a date beside a number is seconds',
      { gte: 0, lt: '2026-01-01' },
      range({ gte: 0, lt: seconds('2026-01-01') }),
    ],
    ['empty bounds are none', { gte: '', gt: null, lt: 5 }, range({ lt: 5 })],
    ['zero is a bound', { gte: 0 }, range({ gte: 0 })],
    ['no filter without bounds', {}, undefined],
    ['no filter of empty bounds', { gte: '', lt: null }, undefined],
  ])('%s', async (_name, bounds, query) => {
    const { outputs } = await runBlock(rangeField, { inputs: { field: 'due', ...bounds } })
    expect(outputs).toEqual({ query })
  })

  test.each([
    ['_meta.created', range({ gte: seconds('2026-01-01') }, '_meta.created')],
    ['_meta.cms', range({ gte: Date.parse('2026-01-01') }, '_meta.cms')],
    ['_meta.ums', range({ gte: Date.parse('2026-01-01') }, '_meta.ums')],
  ])('a date on %s is the number that it holds', async (field, query) => {
    const { outputs } = await runBlock(rangeField, { inputs: { field, gte: '2026-01-01' } })
    expect(outputs).toEqual({ query })
  })

  test('is not worked out before the run, because now moves on', () => {
    expect(rangeField).toMatchObject({ kind: 'value', readsRun: true })
  })
})
