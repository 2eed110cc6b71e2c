import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atOnce, type Steps } from './cooperative.ts'
import { itemsInSteps, jsonInSteps, jsonItems, jsonMembers } from './json-in-steps.ts'

const item = { text: 'a "quoted" \\ [one], {two}\\\\', list: [['x', ','], {}], deep: { '],[': null } }
const list = Array.from({ length: 5_000 }, (_, at) => (at % 3 === 0 ? at : { ...item, at }))

function stepsOf<T>(steps: Steps<T>): { readonly result: T; readonly steps: number } {
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next()
    if (done) return { result: value, steps: count }
  }
}

/** The same text with each letter x as an escape. */
function escaped(text: string): string {
  return text.replaceAll('x', '\\u0078')
}

/** JSON text of the value, or nothing where it is refused. */
function outcomeOf(parse: () => unknown): string | undefined {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

describe('parsed in steps', () => {
  test.each([undefined, 2])('values are what they are, whatever they hold, with %s spaces', (spaces) => {
    const filler = 'x'.repeat(70_000)
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (value, values) => {
        for (const whole of [value, [filler, ...values], { filler, value, values: [filler, ...values] }]) {
          const text = `${JSON.stringify(whole, null, spaces)}`
          expect(atOnce(jsonInSteps(text))).toEqual(JSON.parse(text))
        }
      }),
    )
  })

  test.each([
    ['a list', list],
    ['a list of an object', { before: 1, list, after: { deep: [1] } }],
  ])('%s takes several, cut between its items only', (_, whole) => {
    const { result, steps } = stepsOf(jsonInSteps(JSON.stringify(whole)))
    expect(result).toEqual(whole)
    expect(steps).toBeGreaterThan(2)
  })

  test.each([
    ['fields of fields', { a: { b: { c: list } } }],
    ['fields without lists', Object.fromEntries(list.map((one, at) => [`k${at}`, one]))],
    ['lists of lists', [[[list], [list]]]],
  ])('%s take several too', (_, whole) => {
    const { result, steps } = stepsOf(jsonInSteps(JSON.stringify(whole)))
    expect(result).toEqual(whole)
    expect(steps).toBeGreaterThan(4)
  })

  test('a long text with escapes takes several, and its pieces are cut between escapes', () => {
    const parts = fc.constantFrom('"', '\\', '\u0041', '\u{1f600}', 'é', '\n', 'u', 'x', '\u0001', '/')
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 12 }), fc.nat(8), (some, before) => {
        const part = some.join('')
        const times = Math.ceil(140_000 / part.length)
        const whole = { a: `${'x'.repeat(before)}${part.repeat(times)}`, b: 1 }
        for (const text of [JSON.stringify(whole), escaped(JSON.stringify(whole.a))]) {
          const { result, steps } = stepsOf(jsonInSteps(text))
          expect(result).toEqual(JSON.parse(text))
          expect(steps).toBeGreaterThan(1)
        }
      }),
      { numRuns: 20 },
    )
  })

  test.each([
    ['lists that never end', '['.repeat(100_000)],
    [
      'lists that are nested too deep to be gone down',
      `${'['.repeat(5_000)}${'1,'.repeat(50_000)}1${']'.repeat(5_000)}`,
    ],
    ['a list that ends as an object', `[${'1,'.repeat(50_000)}1}`],
    ['a comma at the end', `[${'1,'.repeat(50_000)}]`],
    ['a comma at the end behind a long member', `["${'x'.repeat(70_000)}",]`],
    ['a comma before a long member', `[,"${'x'.repeat(70_000)}"]`],
    ['two values', `[${'1,'.repeat(50_000)}1][]`],
    ['no end', `[${'1,'.repeat(50_000)}1`],
    ['no end of a text', `["${'x'.repeat(70_000)}`],
    ['more behind a text', `["${'x'.repeat(70_000)}"x]`],
    ['half an escape at the end of a text', `["${'x'.repeat(70_000)}\\u00"]`],
    ['a line feed in a text', `["${'x'.repeat(70_000)}\n"]`],
    ['no name', `{"a":1,${'[1],'.repeat(30_000)}"b":1}`],
    ['a name without a colon', `{"a" "${'x'.repeat(70_000)}"}`],
    ['a name that is a number', `{1:"${'x'.repeat(70_000)}"}`],
    ['nothing but a backslash before a quote', `\\"${'x'.repeat(70_000)}`],
  ])('%s: as JSON.parse has it', (_, text) => {
    expect(outcomeOf(() => atOnce(jsonInSteps(text)))).toEqual(outcomeOf(() => JSON.parse(text)))
  })

  test('a character more, less or in the place of another one: as JSON.parse has it', () => {
    const filler = 'x'.repeat(70_000)
    const change = fc.record({ at: fc.nat(), drop: fc.nat(1), add: fc.constantFrom('', ...'[]{},:"\\1 t') })
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(change, { maxLength: 2 }), (value, changes) => {
        for (const whole of [[value, filler, value], { value, filler, more: [value] }]) {
          const valid = JSON.stringify(whole)
          const [before, after] = valid.split(filler)
          const short = `${before}\u0000${after}`
          const broken = changes.reduce((text, { at, drop, add }) => {
            const place = at % text.length
            return text.slice(0, place) + add + text.slice(place + drop)
          }, short)
          const text = broken.replace('\u0000', filler)
          expect(outcomeOf(() => atOnce(jsonInSteps(text)))).toEqual(outcomeOf(() => JSON.parse(text)))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a field named __proto__ is a field', () => {
    const text = `{"__proto__":{"a":1},"filler":"${'x'.repeat(70_000)}"}`
    expect(JSON.stringify(atOnce(jsonInSteps(text)))).toBe(text)
  })
})

describe('looked through', () => {
  const look = (value: unknown, spaces?: number) => {
    const text = JSON.stringify({ value, last: 1 }, null, spaces)
    const [{ value: span } = { value: { from: 0, to: 0 } }] = jsonMembers(text)
    return { found: text.slice(span.from, span.to), ...stepsOf(itemsInSteps(text, span)) }
  }

  test.each([undefined, 2])('members are found, and their items counted, with %s spaces', (spaces) => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (value, values) => {
        expect(JSON.parse(look(values, spaces).found)).toEqual(JSON.parse(JSON.stringify(values)))
        expect(look(values, spaces).result).toBe(values.length)
        const { found, result } = look(value, spaces)
        expect(JSON.parse(found)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(result).toBe(Array.isArray(value) ? value.length : 0)
      }),
    )
    expect([...jsonMembers('{}')]).toEqual([])
  })

  test.each([undefined, 2])('the texts of items are those of the list, with %s spaces', (spaces) => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const texts = [...jsonItems(JSON.stringify(values, null, spaces))]
        expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)))
      }),
    )
  })

  test('many items are counted in several steps', () => {
    const { result, steps } = look(list)
    expect(result).toBe(list.length)
    expect(steps).toBeGreaterThan(2)
  })
})
