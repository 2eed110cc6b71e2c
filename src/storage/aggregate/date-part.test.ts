import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DatePart, dateParts } from './aggregate.ts'
import { datePart, datePartReader, datePartReaders, datePartText, zoneOffsets } from './date-part.ts'

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

const zones = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Monrovia',
  'America/St_Johns',
]

describe('the part of many dates is that of each', () => {
  const minute = 60_000
  // Around midnights, changes of clocks (in Newfoundland back into the day before, at 00:01), minute by minute, and of all ages.
  const aroundChanges = fc
    .tuple(
      fc.constantFrom(
        '2026-03-29T00',
        '2026-10-25T00',
        '2026-04-04T14',
        '1972-01-06T23',
        '2010-11-07T02',
        '2026-01-31T18',
      ),
      fc.integer({ min: -180, max: 180 }),
    )
    .map(([hour, minutes]) => Date.parse(`${hour}:30:00Z`) + minutes * minute)
  const anyTime = fc.integer({ min: -62_000_000_000_000, max: 253_000_000_000_000 })
  const texts = fc.oneof(aroundChanges, anyTime).map((time) => new Date(time).toISOString())
  const others = fc.constantFrom<unknown>(
    '2026-02-30T10:00:00.000Z',
    '2026-02-28T24:00:00.000Z',
    '2026-02-28T10:00:60.000Z',
    '2026-02-28T10:00:00.000+',
    '0000-02-28T10:00:00.000Z',
    '2026-02-28',
    1_770_000_000,
    null,
  )
  const values = fc.array(fc.oneof({ weight: 4, arbitrary: texts }, others), { minLength: 1, maxLength: 40 })

  test.each(zones)('in %s', (zone) => {
    const offsets = zoneOffsets(zone)
    fc.assert(
      fc.property(values, fc.constantFrom(...dateParts), (list, part) => {
        const read = datePartReader(part, offsets)
        expect([...list, ...list].map(read)).toEqual(
          [...list, ...list].map((value) => datePart(value, part, offsets)),
        )
      }),
      { numRuns: 400 },
    )
  })
})

test('a year of hours and more are read, and the first once more', () => {
  const offsets = zoneOffsets('Europe/Berlin')
  const read = datePartReader('day', offsets)
  const start = Date.UTC(2026, 0, 1)
  const instants = Array.from({ length: 9_000 }, (_, hour) =>
    new Date(start + hour * 3_600_000).toISOString(),
  )
  for (const instant of [...instants, ...instants])
    if (read(instant) !== datePart(instant, 'day', offsets)) throw new Error(instant)
})

test('two zones in turns do not answer for each other', () => {
  const read = datePartReaders()
  const instant = '2026-01-31T23:30:00.000Z'
  const parts = ['UTC', 'Asia/Tokyo', 'UTC'].map((zone) => read(instant, 'month', zone))
  expect(parts).toEqual(
    ['UTC', 'Asia/Tokyo', 'UTC'].map((zone) => datePart(instant, 'month', zoneOffsets(zone))),
  )
  expect(parts[0]).not.toBe(parts[1])
})

test('a minute of tomorrow within an hour of today: clocks of Newfoundland went back at 00:01', () => {
  const offsets = zoneOffsets('America/St_Johns')
  const read = datePartReader('day', offsets)
  const [before, within, after] = ['29', '30', '31'].map((minute) => read(`2010-11-07T02:${minute}:00.000Z`))
  expect([within, after]).toEqual([Number(before) + 1, before])
})
