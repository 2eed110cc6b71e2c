import fc from 'fast-check'
import { expect } from 'vitest'
import { type JsonValue, jsonProblem } from '../../src/shared/json.ts'
import { change, create, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const values: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1.5,
  -1e-7,
  1e21,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  1.7976931348623157e308,
  '',
  'Grüße',
  '\u{1f600}',
  `it's "quoted" \\ \n \t \u2028 \u0001 \ufffd`,
  '{"_meta":{}}',
  'x'.repeat(100_000),
  [],
  {},
  [[], [{}], [null]],
  Array.from({ length: 1000 }, (_, index) => index),
]

/** Keys anywhere below a field. */
const unusualKeys = [
  '',
  ' ',
  '.',
  'a.b',
  '"',
  "'",
  '\\',
  '$',
  '0',
  '10',
  '_meta',
  'toString',
  'constructor',
  '#',
  '[0]',
  '%',
  '?',
]

/** Names of fields themselves. */
const unusualNames = [
  'a b',
  "it's",
  '$',
  '0',
  '10',
  'ключ',
  'toString',
  'hasOwnProperty',
  '?',
  ':a',
  '@a',
  '--',
  ';',
  '[0]',
  '%_',
  '#',
  '*',
]

export function roundTripChapter(it: It): void {
  for (const [index, value] of values.entries())
    it(`stores the value ${index}: ${JSON.stringify(value).slice(0, 40)}`, async ({ database, name }) => {
      const guid = await create(database, name, { value })
      expect(await stored(database, name, guid)).toEqual({ value })
    })

  it('stores odd keys and odd field names', async ({ database, name }) => {
    const inside = Object.fromEntries(unusualKeys.map((key, index) => [key, index]))
    const guid = await create(database, name, { inside })
    expect(await stored(database, name, guid)).toEqual({ inside })
    const fields = Object.fromEntries(unusualNames.map((key, index) => [key, index]))
    const other = await create(database, name, fields)
    expect(await stored(database, name, other)).toEqual(fields)
    const updated = await change(database, (session) => session.update(name, other, set({ '0': 'new' })))
    expect(updated.outcome).toBe('written')
    expect(await stored(database, name, other)).toEqual({ ...fields, '0': 'new' })
  })

  it('stores whatever JSON can say', async ({ database, name }) => {
    const anything = fc.jsonValue({ maxDepth: 5 }).filter((value) => jsonProblem(value) === undefined)
    await fc.assert(
      fc.asyncProperty(anything, anything, async (first, second) => {
        // fast-check's type of JSON is ours, but not read-only.
        const [value, next] = [first, second].map((made) => JSON.parse(JSON.stringify(made)) as JsonValue)
        if (value === undefined || next === undefined) return
        const guid = await create(database, name, { value })
        expect(await stored(database, name, guid)).toEqual({ value })
        await change(database, (session) => session.update(name, guid, set({ next })))
        expect(await stored(database, name, guid)).toEqual({ value, next })
      }),
      { numRuns: 100 },
    )
  })
}
