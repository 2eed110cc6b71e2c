import { expect, test } from 'vitest'
import { openBudgets } from './agents.ts'

test('a clock that is set back by a day keeps no API key waiting for that day', () => {
  const clock = { now: 1_000_000_000 }
  const { call, change, ended } = openBudgets(() => clock.now)
  const calls = (count: number) => {
    for (let at = 0; at < count; at++) call('key')
  }
  calls(120)
  expect(() => call('key')).toThrow('120 messages a minute')
  for (let at = 0; at < 300; at++) expect(change('key')).toBeUndefined()
  expect(change('key')).toContain('300 changes within an hour')
  for (let at = 0; at < 10; at++) ended('key', true)
  clock.now -= 86_400_000
  calls(120)
  expect(() => call('key')).toThrow('120 messages a minute')
  expect(change('key')).toBeUndefined()
  for (let at = 0; at < 10; at++) ended('key', true)
  expect(change('key')).toContain('changes were refused')
})
