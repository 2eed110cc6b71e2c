/** What functions take from the budget of a run: it bounds how long one expression holds the event loop. */
import { expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { functionContext } from '../../../test/function-context.ts'

const names = {
  long: 'a'.repeat(100_000),
  short: 'a'.repeat(4_000),
  digits: '61'.repeat(50_000),
  pairs: '🎈'.repeat(50_000),
  wide: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i])),
  json: JSON.stringify(Array.from({ length: 9_000 }, (_, i) => i)),
}

/** Milliseconds of the machine on which the costs were found; a cost is at least one for 2 µs. */
test.each<[string, number]>([
  ['long.includes("b")', 0.002],
  ['length(pairs)', 0.15],
  ['long.lastIndexOf("b")', 0.11],
  ['long.split("b")', 0.3],
  ['upper(pairs)', 0.5],
  ['truncate(pairs, 40000)', 1],
  ['slug(long.slice(0, 10000))', 0.7],
  ['matches(short, "(?:[a-z]?){70}[0-9]")', 0.1],
  ['escapeHtml("<".repeat(100000))', 6.5],
  ['hash("sha512", long)', 0.2],
  ['hmac("sha512", "k", long)', 0.2],
  ['equalInConstantTime(long, long)', 0.2],
  ['replace(long, "a", "b")', 0.5],
  ['urlDecode(long)', 0.36],
  ['fromHex(digits)', 0.1],
  ['jsonParse(json)', 1],
  ['jsonText(wide)', 0.3],
  ['wide == { ...wide }', 0.2],
  ['addTo("2026-03-28T11:00Z", { days: 1 }, "Europe/Berlin")', 0.022],
  ['formatNumber(1, 2, "de-x-costs")', 0.1],
  ['format("2026-01-31", "MMMM", null, "de-x-costs")', 0.1],
])('%s costs as much as its time', (text, milliseconds) => {
  const context = functionContext()
  evaluateText(text, names, context)
  expect(context.spent()).toBeGreaterThanOrEqual(milliseconds * 500)
})

test('a format of a locale that is kept is made once', () => {
  const context = functionContext()
  evaluateText('currency(1, "EUR", "fr-x-costs")', names, context)
  const once = context.spent()
  evaluateText('currency(2, "EUR", "fr-x-costs")', names, context)
  expect(context.spent()).toBe(once)
})

test.each(['long.map(x => x)', 'trim(" a ")', 'startsWith("abc", "a")', '1 + 1', 'round(1.5)', '"a" == "b"'])(
  '%s costs nothing',
  (text) => {
    const context = functionContext()
    evaluateText(text, { long: [] }, context)
    expect(context.spent()).toBe(0)
  },
)
