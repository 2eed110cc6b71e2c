import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateDateMath, isDateMath } from './date-math.ts'

/** A Saturday. */
const now = Date.parse('2026-01-31T14:05:06.789Z')

function iso(text: string, rounding?: 'down' | 'up'): string {
  const result = evaluateDateMath(text, now, rounding)
  return 'problem' in result ? result.problem : new Date(result.milliseconds).toISOString()
}

const problems: [text: string, problem: RegExp][] = [
  ['', /must start with now/],
  ['tomorrow', /must start with now/],
  ['2026-01-01', /must start with now/],
  ['2026-02-30||+1d', /must start with now, or with a date/],
  ['||+1d', /must start with now, or with a date/],
  ['now+1x', /cannot continue with "\+1x"/],
  ['now+1d/', /cannot continue with "\/"/],
  ['now +1d', /cannot continue with " \+1d"/],
  ['nowish', /cannot continue with "ish"/],
  ['now+1.5d', /cannot continue with/],
  ['now||+1d', /must start with now, or with a date/],
  ['2026-01-01||now', /cannot continue with "now"/],
  ['now+9999y', /outside the years/],
  ['now-3000y', /outside the years/],
  ['now+999999999y', /outside the years/],
  ['now+999999999y-999999999y', /outside the years/],
  [`now${'+1d'.repeat(40)}`, /longer than 100/],
]

const dates: [text: string, date: string][] = [
  ['now', '2026-01-31T14:05:06.789Z'],
  ['now-7d', '2026-01-24T14:05:06.789Z'],
  ['now-7d/d', '2026-01-24T00:00:00.000Z'],
  ['now/d-7d', '2026-01-24T00:00:00.000Z'],
  ['now+90s', '2026-01-31T14:06:36.789Z'],
  ['now-5m', '2026-01-31T14:00:06.789Z'],
  ['now+10h', '2026-02-01T00:05:06.789Z'],
  ['now+10H', '2026-02-01T00:05:06.789Z'],
  ['now+1w', '2026-02-07T14:05:06.789Z'],
  ['now+d', '2026-02-01T14:05:06.789Z'],
  ['now+1M', '2026-02-28T14:05:06.789Z'],
  ['now+1M+1M', '2026-03-28T14:05:06.789Z'],
  ['now+2M', '2026-03-31T14:05:06.789Z'],
  ['now-2M', '2025-11-30T14:05:06.789Z'],
  ['now+13M', '2027-02-28T14:05:06.789Z'],
  ['now-1y', '2025-01-31T14:05:06.789Z'],
  ['2024-02-29||+1y', '2025-02-28T00:00:00.000Z'],
  ['2024-02-29||-4y', '2020-02-29T00:00:00.000Z'],
  ['now/s', '2026-01-31T14:05:06.000Z'],
  ['now/m', '2026-01-31T14:05:00.000Z'],
  ['now/h', '2026-01-31T14:00:00.000Z'],
  ['now/w', '2026-01-26T00:00:00.000Z'],
  ['now/M', '2026-01-01T00:00:00.000Z'],
  ['now/y', '2026-01-01T00:00:00.000Z'],
  ['2026-01-26||/w', '2026-01-26T00:00:00.000Z'],
  ['1969-12-31T12:00||/d', '1969-12-31T00:00:00.000Z'],
  ['1969-12-31||/w', '1969-12-29T00:00:00.000Z'],
  ['0050-05-05||/y', '0050-01-01T00:00:00.000Z'],
  ['2026-01-01||', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01||+1d/d', '2026-01-02T00:00:00.000Z'],
  ['2026-01-01T10:00+02:00||-1h', '2026-01-01T07:00:00.000Z'],
  ['now+0d', '2026-01-31T14:05:06.789Z'],
]

const roundedUp: [text: string, date: string][] = [
  ['now', '2026-01-31T14:05:06.789Z'],
  ['now/s', '2026-01-31T14:05:06.999Z'],
  ['now/d', '2026-01-31T23:59:59.999Z'],
  ['now/w', '2026-02-01T23:59:59.999Z'],
  ['now/M', '2026-01-31T23:59:59.999Z'],
  ['2024-02-10||/M', '2024-02-29T23:59:59.999Z'],
  ['now/y', '2026-12-31T23:59:59.999Z'],
]

describe('evaluateDateMath', () => {
  test.each(problems)('%j is refused', (text, problem) => {
    expect(iso(text)).toMatch(problem)
  })

  test.each(dates)('%s', (text, date) => {
    expect(iso(text)).toBe(date)
  })

  test.each(roundedUp)('%s, rounded up', (text, date) => {
    expect(iso(text, 'up')).toBe(date)
  })

  test('now lies in every unit that it is rounded to, and the next unit starts right behind', () => {
    const time = fc.integer({ min: Date.parse('1900-01-01'), max: Date.parse('2200-01-01') })
    const unit = fc.constantFrom('s', 'm', 'h', 'd', 'w', 'M', 'y')
    fc.assert(
      fc.property(time, unit, (at, to) => {
        const start = evaluateDateMath(`now/${to}`, at)
        const end = evaluateDateMath(`now/${to}`, at, 'up')
        const next = evaluateDateMath(`now/${to}+1${to}`, at)
        if ('problem' in start || 'problem' in end || 'problem' in next) return false
        return (
          start.milliseconds <= at &&
          at <= end.milliseconds &&
          end.milliseconds + 1 === next.milliseconds &&
          start.milliseconds < next.milliseconds
        )
      }),
    )
  })
})

test.each([
  ['now', true],
  ['now-7d', true],
  ['now/x', true],
  ['2026-01-01||+1d', true],
  ['2026-99-99||', true],
  ['nowhere', false],
  ['now we go', false],
  ['2026-01-01', false],
  ['a||b', false],
  ['', false],
])('%j is meant as date maths: %s', (text, is) => {
  expect(isDateMath(text)).toBe(is)
})
