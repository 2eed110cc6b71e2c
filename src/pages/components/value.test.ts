import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, test } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import type { Drawing } from '../drawing.ts'
import { messagesFor } from '../messages.ts'
import { drawValue } from './value.ts'

const drawing: Drawing = {
  say: messagesFor('en'),
  locale: 'en',
  timeZone: 'UTC',
  currency: 'USD',
  now: Date.UTC(2026, 0, 31, 12),
  level: 2,
  narrow: false,
  draw: () => null,
  deeper: () => drawing,
  beside: () => drawing,
  id: (wish) => wish,
}

const drawn = (
  value: JsonValue | undefined,
  format: ValueFormat,
  more: { href?: string; currency?: string } = {},
): string =>
  renderToString(h('p', null, drawValue(value, { format, ...more }, drawing)))
    .slice(3, -4)
    .replace(/[\u00a0\u202f]/g, ' ')

test.each<[JsonValue, ValueFormat, string]>([
  ['<b>', 'auto', '&lt;b>'],
  [1234.5, 'auto', '1,234.5'],
  [1972, 'auto', '1972'],
  [12345, 'auto', '12,345'],
  [true, 'auto', 'Yes'],
  [['a', 2], 'auto', 'a, 2'],
  [{ a: 1 }, 'auto', '{&quot;a&quot;:1}'],
  ['12', 'number', '12'],
  ['twelve', 'number', 'twelve'],
  [12, 'currency', '$12.00'],
  [0.5, 'percent', '50%'],
  ['2026-01-31', 'date', '<time datetime="2026-01-31">Jan 31, 2026</time>'],
  ['someday', 'date', 'someday'],
  [
    1_769_850_000,
    'date_time',
    '<time datetime="2026-01-31T09:00:00.000Z" title="UTC">Jan 31, 2026, 9:00 AM UTC</time>',
  ],
  [
    '2026-01-30',
    'relative_time',
    '<time datetime="2026-01-30T00:00:00.000Z" title="Jan 30, 2026, 12:00 AM UTC">yesterday</time>',
  ],
  [false, 'boolean', 'No'],
  ['maybe', 'boolean', 'maybe'],
  ['Overdue', 'badge', '<span class="badge danger">Overdue</span>'],
  ['blue', 'badge', '<span class="badge neutral">blue</span>'],
  [
    'https://a.example',
    'link',
    '<a href="https://a.example" rel="noopener noreferrer">https://a.example</a>',
  ],
  ['javascript:a', 'link', '<a>javascript:a</a>'],
  ['a@b.example', 'email', '<a href="mailto:a@b.example">a@b.example</a>'],
  ['/static/a.png', 'image', '<img class="thumb" src="/static/a.png" alt loading="lazy"/>'],
  ['javascript:a', 'image', 'javascript:a'],
  [{ name: 'a.pdf', href: '/_pages/files/1' }, 'file', '<a href="/_pages/files/1">a.pdf</a>'],
  [{ name: 'a.pdf' }, 'file', 'a.pdf'],
  [{ a: '<' }, 'json', '<code>{&quot;a&quot;:&quot;&lt;&quot;}</code>'],
])('%j as %s is %s', (value, format, expected) => {
  expect(drawn(value, format)).toBe(expected)
})

test.each([[null], [undefined], [''], [[]]])('%j is empty, and is read out so', (value) => {
  for (const format of ['auto', 'currency', 'link', 'image'] as const)
    expect(drawn(value, format)).toMatch(/aria-hidden="true">–<.*>empty</)
})

test('a currency may be named, and a value may lead somewhere', () => {
  expect(drawn(5, 'currency', { currency: 'EUR', href: '/a' })).toBe('<a href="/a">€5.00</a>')
})

test('a very long text is cut, between two characters', () => {
  const text = drawn(`${'a'.repeat(1_999)}😀b`, 'text')
  expect(text.length).toBeLessThan(2_010)
  expect([text.isWellFormed(), text.endsWith(' …')]).toEqual([true, true])
})

test.each([
  ['+44 1632 960100', '<bdi dir="ltr">+44 1632 960100</bdi>'],
  ['(030) 12 34-5', '<bdi dir="ltr">(030) 12 34-5</bdi>'],
  ['12345', '12345'],
  ['+44 a', '+44 a'],
])('%s keeps its order in a text from right to left', (value, html) => {
  expect(drawn(value, 'text')).toBe(html)
})
