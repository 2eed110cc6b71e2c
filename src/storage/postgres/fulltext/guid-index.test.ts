import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GuidIndex } from './guid-index.ts'

const someGuid = fc.uuid()

test('numbers guids in the order of their coming, finds them, and gives them back', () => {
  fc.assert(
    fc.property(fc.array(someGuid, { maxLength: 3_000 }), someGuid, (guids, other) => {
      const rows = new GuidIndex()
      const expected = new Map<string, number>()
      for (const guid of [...guids, ...guids.slice(0, 5)]) {
        if (!expected.has(guid)) expected.set(guid, expected.size)
        expect(rows.add(guid)).toBe(expected.get(guid))
      }
      expect(rows.size).toBe(expected.size)
      for (const [guid, row] of expected) {
        expect(rows.rowOf(guid)).toBe(row)
        expect(rows.guidOf(row)).toBe(guid)
      }
      expect(rows.rowOf(other)).toBe(expected.get(other) ?? -1)
    }),
    { numRuns: 30 },
  )
})

test('orders them as their texts are', () => {
  fc.assert(
    fc.property(someGuid, someGuid, (a, b) => {
      const rows = new GuidIndex()
      const order = rows.compare(rows.add(a), rows.add(b))
      expect(Math.sign(order)).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})

test('finds each of 100,000 that were made one after the other', () => {
  const guidOf = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
  const rows = new GuidIndex()
  for (let n = 0; n < 100_000; n++) rows.add(guidOf(n))
  for (let n = 0; n < 100_000; n += 7) if (rows.rowOf(guidOf(n)) !== n) throw new Error(`${n} is lost.`)
  expect(rows.rowOf(guidOf(100_000))).toBe(-1)
})

test.each([
  'g000001',
  '',
  '0190000A-0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-00000000000g',
  '01900000_0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-0000000000011',
])('does not number %j', (text) => {
  const rows = new GuidIndex()
  expect([rows.add(text), rows.rowOf(text), rows.size]).toEqual([-1, -1, 0])
})
