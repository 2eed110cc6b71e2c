import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atOnce } from './in-turns.ts'
import { jsonItems } from './json-items.ts'

test('the items are those of the list, whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (list) => {
      const text = JSON.stringify(list)
      expect(atOnce(jsonItems(text))).toEqual(JSON.parse(text))
    }),
  )
})

test('a long list is parsed in several steps, cut between items only', () => {
  const item = { text: 'a "quoted" \\ [one], {two}\\\\', list: [['x', ','], {}], deep: { '],[': null } }
  const list = Array.from({ length: 5_000 }, (_, at) => (at % 3 === 0 ? at : { ...item, at }))
  const steps = jsonItems(JSON.stringify(list))
  let pieces = 0
  for (;;) {
    const { done, value } = steps.next()
    if (done) {
      expect(value).toEqual(list)
      break
    }
    pieces += 1
  }
  expect(pieces).toBeGreaterThan(2)
})
