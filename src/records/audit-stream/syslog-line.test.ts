import { expect, test } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { syslogFrame } from './audit-receiver.ts'

const entry = (audit: JsonObject | null) => ({
  ...{ place: 7, at: Date.UTC(2026, 10, 29, 12, 0, 0, 5), hash: 'h', chain: 'c/+=', record: 'r', audit },
})
/** Length, header, message. */
const parts = (frame: Buffer) => /^(\d+) (<109>1 .*?) \uFEFF(.*)$/s.exec(frame.toString())?.slice(1) ?? []

test('a record is one frame with its length in bytes', () => {
  const frame = syslogFrame(entry({ category: 'users', action: 'created', name: 'Zoë' }), 'node-1')
  const [length, header, message = ''] = parts(frame)
  expect(Number(length)).toBe(frame.length - `${length} `.length)
  expect(header).toBe(
    '<109>1 2026-11-29T12:00:00.005Z node-1 quoin - users.created [audit@32473 place="7" chain="c/+="]',
  )
  expect(JSON.parse(message)).toMatchObject({ place: 7, audit: { name: 'Zoë' } })
})

test.each<[string, JsonObject | null, string, string]>([
  ['an entry without a record', null, 'node', 'chain'],
  [
    'a category with spaces, and longer than 32 characters',
    { category: `a b${'c'.repeat(40)}`, action: 'x' },
    'node',
    `a_b${'c'.repeat(29)}`,
  ],
  ['a host with a line break', { category: 'a', action: 'b' }, 'no\nde', 'a.b'],
])('%s keeps the header in form', (_, audit, host, kind) => {
  const [, header = ''] = parts(syslogFrame(entry(audit), host))
  expect(header.split(' ').slice(2, 6)).toEqual([host.replace('\n', '_'), 'quoin', '-', kind])
})

test('a record that receivers would cut goes without its values', () => {
  const audit = {
    category: 'users',
    action: 'updated',
    guid: 'g',
    user: { guid: 'u', username: 'ada' },
    states: ['x'.repeat(9_000), null],
  }
  const [, , message = ''] = parts(syslogFrame(entry(audit), 'node'))
  expect(JSON.parse(message).audit).toEqual({
    ...{ _meta: null, category: 'users', action: 'updated', guid: 'g' },
    ...{ user: { guid: 'u', username: 'ada' }, left_out: expect.any(Number) },
  })
})
