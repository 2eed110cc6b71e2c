import { randomFillSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { guidSource, isGuid } from '../shared/guid.ts'
import { lastTime } from './document-session.ts'

const HOUR = 3_600_000

test.each<[string, number | undefined, number | undefined, number]>([
  ['no document', undefined, undefined, 0],
  ['an older one', 5, undefined, 0],
  ['one that is a few seconds ahead', 100_000 + 59_000, 100_000 + 59_000, 0],
  ['one that is three hours ahead', 100_000 + 3 * HOUR, 100_000 + 3 * HOUR, 1],
  ['one that is two days ahead, which nothing follows', 100_000 + 48 * HOUR, undefined, 1],
])('times continue behind the newest document: %s', (_, newest, last, reported) => {
  const messages: string[] = []
  expect(lastTime(newest, 100_000, (message) => void messages.push(message))).toBe(last)
  expect(messages).toHaveLength(reported)
})
test('guids of a source that continues behind a time are later than all of that millisecond, with a clock that is behind', () => {
  const before = 1_700_000_000_000
  const former = guidSource(() => before, randomFillSync)
  const next = guidSource(() => before - 3_600_000, randomFillSync, before)
  const all = [former(), former(), next(), next()]
  expect(all.every(isGuid)).toBe(true)
  expect(all).toEqual(all.toSorted())
  expect(Number.parseInt(String(all[2]).replace('-', '').slice(0, 12), 16)).toBe(before + 1)
})
