import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DatePart, dateParts } from './aggregate.ts'
import { datePart, datePartText } from './date-part.ts'
import { zoneOffsets } from './zone-offsets.ts'

function shown(value: unknown, part: DatePart, zone = 'UTC'): string | null {
  const number = datePart(value, part, zoneOffsets(zone))
  return number === null ? null : datePartText(number, part)
}

describe('parts of dates', () => {
  test.each<[unknown, string, readonly (string | null)[]]>([
    ['2026-01-31', 'Asia/Tokyo', ['2026', '2026-Q1', '2026-01', '2026-W05', '2026-01-31', null]],
    [
      '2020-12-31T23:30:00Z',
      'UTC',
      ['2020', '2020-Q4', '2020-12', '2020-W53', '2020-12-31', '2020-12-31T23:00+00:00'],
    ],
    [
      '2020-12-31T23:30:00Z',
      'Europe/Berlin',
      ['2021', '2021-Q1', '2021-01', '2020-W53', '2021-01-01', '2021-01-01T00:00+01:00'],
    ],
    [
      1_609_457_400,
      'America/New_York',
      ['2020', '2020-Q4', '2020-12', '2020-W53', '2020-12-31', '2020-12-31T18:00-05:00'],
    ],
    [
      1_609_457_400_000,
      'UTC',
      ['2020', '2020-Q4', '2020-12', '2020-W53', '2020-12-31', '2020-12-31T23:00+00:00'],
    ],
    ['2026-02-29', 'UTC', [null, null, null, null, null, null]],
    [true, 'UTC', [null, null, null, null, null, null]],
  ])('%j in %s', (value, zone, parts) => {
    expect(dateParts.map((part) => shown(value, part, zone))).toEqual(parts)
  })

  test('the hour that clocks repeat is two hours, in the order of time', () => {
    const hours = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
    expect(hours.map((hour) => shown(hour, 'hour', 'Europe/Berlin'))).toEqual([
      '2026-10-25T02:00+02:00',
      '2026-10-25T02:00+01:00',
    ])
    const [first, second] = hours.map((hour) => datePart(hour, 'hour', zoneOffsets('Europe/Berlin')))
    expect(Number(first)).toBeLessThan(Number(second))
  })

  test('agree with the calendar of JavaScript in any time zone, from 1900 to 2199', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Asia/Kathmandu',
      'Pacific/Apia',
      'Africa/Monrovia',
    )
    fc.assert(
      fc.property(zones, fc.integer({ min: -2_200_000_000, max: 7_250_000_000 }), (zone, seconds) => {
        const at = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone)
        const week = `${at.yearOfWeek}-W${String(at.weekOfYear).padStart(2, '0')}`
        const text = at.toInstant().toString()
        expect([shown(text, 'day', zone), shown(text, 'week', zone), shown(text, 'month', zone)]).toEqual([
          at.toPlainDate().toString(),
          week,
          at.toPlainDate().toPlainYearMonth().toString(),
        ])
        expect(shown(text, 'hour', zone)?.slice(0, 13)).toBe(at.toPlainDateTime().toString().slice(0, 13))
      }),
      { numRuns: 2_000 },
    )
  })
})
