import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callFunction } from '../../../test/call-function.ts'
import { functionContext } from '../../../test/function-context.ts'

const berlin = 'Europe/Berlin'
const newYork = 'America/New_York'
const noDate = 'date must be a date such as 2026-01-31 or 2026-01-31T09:00Z'
const noZone = 'zone must be a time zone such as Europe/Berlin; got "Mars/Olympus"'

test.each<[string, unknown[], unknown]>([
  ['now', [], '2026-01-31T08:30:00.000Z'],
  ['today', [], '2026-01-31'],
  ['today', ['Pacific/Kiritimati'], '2026-01-31'],
  ['today', ['America/Los_Angeles'], '2026-01-31'],
  ['today', ['Mars/Olympus'], noZone],
  ['addTo', ['2026-01-31', { months: 1 }], '2026-02-28'],
  ['addTo', ['2024-01-31', { months: 1, days: 1 }], '2024-03-01'],
  ['addTo', ['2024-02-29', { years: 1 }], '2025-02-28'],
  ['addTo', ['2026-01-31', { hours: 1 }], 'amounts has hours, but 2026-01-31 is a day without a time'],
  ['addTo', ['2026-01-31', { days: 0.5 }], 'amounts must have whole numbers; days is not one'],
  [
    'addTo',
    ['2026-01-31', { fortnights: 1 }],
    expect.stringMatching(/^amounts must be one of years, months/),
  ],
  ['addTo', ['2026-01-31', { constructor: 1 }], expect.stringMatching(/^amounts must be one of years/)],
  ['addTo', ['2026-01-31', {}], '2026-01-31'],
  ['addTo', ['2026-01-15', { months: 1, days: -1 }], '2026-02-14'],
  ['addTo', ['2026-01-31', { years: 1, months: -11, weeks: 1, days: -8 }], '2026-02-27'],
  ['addTo', ['2026-03-28T11:00Z', { days: 1, hours: -24 }, berlin], '2026-03-28T10:00:00.000Z'],
  ['addTo', ['2026-01-31', { days: null }], '2026-01-31'],
  ['addTo', ['9999-12-31', { days: 1 }], 'amounts gives a date outside the years 0 to 9999'],
  ['addTo', ['2026-01-31', { years: 1e15 }], 'amounts gives a date outside the years 0 to 9999'],
  // A day later is the same time of the clock, 24 hours later is not.
  ['addTo', ['2026-03-28T11:00Z', { days: 1 }, berlin], '2026-03-29T10:00:00.000Z'],
  ['addTo', ['2026-03-28T11:00Z', { hours: 24 }, berlin], '2026-03-29T11:00:00.000Z'],
  ['addTo', [1_769_848_200, { minutes: 1 }], '2026-01-31T08:31:00.000Z'],
  ['addTo', ['soon', { days: 1 }], noDate],
  ['addTo', ['2026-02-30', { days: 1 }], noDate],
  ['addTo', [1e300, { days: 1 }], 'date gives a date outside the years 0 to 9999'],
  ['between', ['2026-01-31', '2026-02-28', 'months'], 1],
  ['between', ['2026-01-15', '2026-02-15', 'month'], 1],
  ['between', ['2026-02-15', '2026-01-15', 'days'], -31],
  ['between', ['2026-03-29', '2026-03-30', 'hours', berlin], 24],
  ['between', ['2026-03-28T23:00Z', '2026-03-29T22:00Z', 'days', berlin], 1],
  ['between', ['2026-03-28T23:00Z', '2026-03-29T22:00Z', 'hours', berlin], 23],
  ['between', ['2026-03-28T23:00Z', '2026-03-29T22:00Z', 'days'], 0],
  ['between', ['2026-01-31T00:00Z', '2026-01-31T23:59:59Z', 'hours'], 23],
  ['between', ['2026-01-31', '2026-01-31T06:00Z', 'hours', newYork], 1],
  ['between', ['2026-01-31', '2026-02-01', 'eons'], expect.stringMatching(/^unit must be one of years/)],
  ['startOf', ['2026-02-04', 'week'], '2026-02-02'],
  ['startOf', ['2026-02-04', 'year'], '2026-01-01'],
  ['startOf', ['2026-02-04', 'hour'], 'unit is hour, but 2026-02-04 is a day without a time'],
  ['startOf', ['2026-03-29T12:00Z', 'day', berlin], '2026-03-28T23:00:00.000Z'],
  // No midnight on that day: clocks went from 00:00 to 01:00.
  ['startOf', ['2018-11-04T12:00Z', 'day', 'America/Sao_Paulo'], '2018-11-04T03:00:00.000Z'],
  ['startOf', ['2026-01-31T08:45Z', 'hour', 'Asia/Kolkata'], '2026-01-31T08:30:00.000Z'],
  ['startOf', ['2026-01-31T08:45Z', 'day', 'Mars/Olympus'], noZone],
  ['endOf', ['2024-02-04', 'month'], '2024-02-29'],
  ['endOf', ['2018-11-04T12:00Z', 'day', 'America/Sao_Paulo'], '2018-11-05T01:59:59.999Z'],
  ['endOf', ['2026-02-04', 'week'], '2026-02-08'],
  ['endOf', ['2026-10-25T12:00Z', 'day', berlin], '2026-10-25T22:59:59.999Z'],
  ['endOf', ['2026-01-31T08:45Z', 'hour'], '2026-01-31T08:59:59.999Z'],
  ['parseDate', ['2026-01-31'], '2026-01-31'],
  ['parseDate', ['2026-01-31T10:00+02:00'], '2026-01-31T08:00:00.000Z'],
  ['parseDate', ['tomorrow'], 'text must be a date such as 2026-01-31 or 2026-01-31T09:00Z'],
  ['parseDate', ['30.02.2026', 'dd.MM.yyyy'], 'text must be a date of the form dd.MM.yyyy'],
  ['parseDate', ['1.2.2026', 'd.M.y'], '2026-02-01'],
  ['parseDate', ['1.2.2026', 'dd.MM.yyyy'], 'text must be a date of the form dd.MM.yyyy'],
  ['parseDate', ['20260131', 'yyyyMMdd'], '2026-01-31'],
  ['parseDate', ['01/27', 'MM/yy'], '2027-01-01'],
  ['parseDate', ['5 März 2026', 'd MMMM yyyy', 'UTC', 'de-DE'], '2026-03-05'],
  ['parseDate', ['Jan 5, 2026 3:07 PM', 'MMM d, yyyy h:mm a'], '2026-01-05T15:07:00.000Z'],
  ['parseDate', ['2026-01-31 12:00 am', 'yyyy-MM-dd hh:mm a'], '2026-01-31T00:00:00.000Z'],
  [
    'parseDate',
    ['2026-01-31 13:00 am', 'yyyy-MM-dd hh:mm a'],
    expect.stringMatching(/^text must be a date of/),
  ],
  ['parseDate', ['2026-01-31 25:00', 'yyyy-MM-dd HH:mm'], expect.stringMatching(/^text must be a date of/)],
  ['parseDate', ['2026-01-31 09:00', 'yyyy-MM-dd HH:mm', newYork], '2026-01-31T14:00:00.000Z'],
  ['parseDate', ['2026-01-31 09:00 -0530', 'yyyy-MM-dd HH:mm XX'], '2026-01-31T14:30:00.000Z'],
  ['parseDate', ['2026-01-31 09:00:00.25', 'yyyy-MM-dd HH:mm:ss.SS'], '2026-01-31T09:00:00.250Z'],
  ['parseDate', ['2026-01-31x', 'yyyy-MM-dd'], expect.stringMatching(/^text must be a date of/)],
  ['parseDate', ['x', "yyyy 'x"], "pattern has a ' without its partner; '' writes one"],
  ['parseDate', ['2026-W10', "YYYY-'W'ww"], '2026-03-02'],
  ['parseDate', ['2026-W01', "YYYY-'W'ww"], '2025-12-29'],
  ['parseDate', ['Wed 2020-W53', "EEE YYYY-'W'ww"], '2020-12-30'],
  ['parseDate', ['2027-W53', "YYYY-'W'ww"], "text must be a date of the form YYYY-'W'ww"],
  ['parseDate', ['2026-W00', "YYYY-'W'ww"], "text must be a date of the form YYYY-'W'ww"],
  ['parseDate', ['Q2 2026', "'Q'Q yyyy"], '2026-04-01'],
  ['parseDate', ['Q5 2026', "'Q'Q yyyy"], "text must be a date of the form 'Q'Q yyyy"],
  ['parseDate', ['2026-01-31 09:00 America/New_York', 'yyyy-MM-dd HH:mm VV'], '2026-01-31T14:00:00.000Z'],
  [
    'parseDate',
    ['2026-01-31 09:00 Europe/Nowhere', 'yyyy-MM-dd HH:mm VV'],
    'text must be a date of the form yyyy-MM-dd HH:mm VV',
  ],
  ['parseDate', ['31.01.', 'dd.MM.'], 'pattern has no year: no date can be read by it'],
  ['parseDate', ['2026 10', 'yyyy ww'], 'pattern has the week w without its year YYYY'],
  [
    'parseDate',
    ['J 2026', 'MMMMM yyyy'],
    'pattern has a month of one letter, which several months share: use MMM or MM',
  ],
  [
    'parseDate',
    ['2026-01-31 CET', 'yyyy-MM-dd z'],
    'pattern has z, a name of a zone that no date is read by: use XXX or VV',
  ],
  ['hour', ['2026-01-31'], 'date must have a time; 2026-01-31 is a day'],
  ['weekday', ['2026-02-01'], 7],
  ['isBefore', ['2026-01-31', '2026-01-31'], false],
  ['isAfter', [1_769_848_200, '2026-01-31T08:29:59.999Z'], true],
  ['unixSeconds', ['2026-01-31', berlin], 1_769_814_000],
  ['fromUnix', [0], '1970-01-01T00:00:00.000Z'],
  ['fromUnix', [-1.5], '1969-12-31T23:59:58.500Z'],
])('%s(%j)', (name, input, expected) => {
  expect(callFunction(name, input)).toEqual(expected)
})

test.each<[unknown, string, string, string, string]>([
  ['2026-01-31T20:05:09.007Z', 'yyyy-MM-dd HH:mm:ss.SSS', 'UTC', 'en-US', '2026-01-31 20:05:09.007'],
  ['2026-01-31T20:05:09.007Z', 'd/M/yy h:mm a', 'UTC', 'en-US', '31/1/26 8:05 PM'],
  ['2026-01-31T00:05Z', 'h K k H', 'UTC', 'en-US', '12 0 24 0'],
  ['2026-01-31T00:05Z', "EEEE, d 'de' MMMM", 'UTC', 'es-ES', 'sábado, 31 de enero'],
  ['2026-03-05', 'EEEEE MMM LLLL Q', 'UTC', 'en-US', 'T Mar March 1'],
  ['2026-03-05', "'it''s' '' yyyy", 'UTC', 'en-US', "it's ' 2026"],
  ['2026-07-01T00:00Z', 'HH:mm XXX VV', berlin, 'en-US', '02:00 +02:00 Europe/Berlin'],
  ['2026-07-01T00:00Z', 'X XX XXX x xx xxx Z', 'UTC', 'en-US', 'Z Z Z +00 +0000 +00:00 +0000'],
  ['2026-07-01T00:00Z', 'X XX XXX', 'Asia/Kolkata', 'en-US', '+0530 +0530 +05:30'],
  ['2026-07-01T00:00Z', 'z', newYork, 'en-US', 'EDT'],
  ['2026-01-01', "YYYY-'W'ww", 'UTC', 'en-US', '2026-W01'],
  ['2027-01-01', "YYYY-'W'ww", 'UTC', 'en-US', '2026-W53'],
  ['2026-01-31', 'dd.MM.yyyy', 'America/Los_Angeles', 'de-DE', '31.01.2026'],
  [1_769_848_200, 'HH:mm', berlin, 'en-US', '09:30'],
  ['2026-01-31', 'HH:mm', 'UTC', 'en-US', 'pattern has HH, but 2026-01-31 is a day without a time'],
  [
    '2026-01-31',
    'YYYY-MM-DD',
    'UTC',
    'en-US',
    'pattern has YYYY, the year of the week w: the calendar year is yyyy',
  ],
  ['2026-01-31', 'yyyy-MM-DD', 'UTC', 'en-US', 'pattern has DD: the day of the month is d or dd'],
  [
    '2026-01-31',
    'yyyy n',
    'UTC',
    'en-US',
    "pattern has n, which is no field of a date; text stands between apostrophes: 'o''clock'",
  ],
  ['2026-01-31', 'MMM', 'UTC', '_', 'locale must be a language tag such as en-US; got "_"'],
  ['2026-01-31T00:00Z', 'yyyy', 'Mars/Olympus', 'en-US', noZone],
  ['2026-01-31', 'y'.repeat(201), 'UTC', 'en-US', 'pattern must have at most 200 characters'],
])('format(%j, %j, %s, %s)', (date, pattern, zone, locale, expected) => {
  expect(callFunction('format', [date, pattern, zone, locale])).toBe(expected)
})

test.each<[string, string, string, number, string, unknown]>([
  ['clocks go forward', '2026-03-29', '01:00', 60, berlin, ['00:00', '01:00', '02:00']],
  ['clocks go back', '2026-10-25', '01:00', 60, berlin, ['23:00', '00:00', '01:00', '02:00', '03:00']],
  ['clocks go forward', '2026-03-08', '01:00', 60, newYork, ['06:00', '07:00', '08:00']],
  ['half an hour', '2026-01-31', '04:00', 30, 'Asia/Kolkata', ['22:30', '23:00']],
  [
    'clocks go forward by half an hour',
    '2026-10-04',
    '01:30',
    30,
    'Australia/Lord_Howe',
    expect.objectContaining({ length: 6 }),
  ],
])('timesOfDay: %s on %s', (_what, day, from, step, zone, expected) => {
  const times = callFunction('timesOfDay', [day, from, '05:00', step, zone])
  expect(Array.isArray(times) && times.map((time) => String(time).slice(11, 16))).toEqual(expected)
})

test.each<[unknown[], unknown]>([
  [['2026-01-31', '09:00', '09:00', 30], []],
  [
    ['2026-01-31', '23:00', '24:00', 30],
    ['2026-01-31T23:00:00.000Z', '2026-01-31T23:30:00.000Z'],
  ],
  // 02:00 to 03:00 is left out: nothing is in it, and what ends in it ends where it begins.
  [['2026-03-29', '02:15', '02:45', 30, berlin], []],
  [
    ['2026-03-29', '01:00', '02:30', 30, berlin],
    ['2026-03-29T00:00:00.000Z', '2026-03-29T00:30:00.000Z'],
  ],
  [['2026-03-29', '02:15', '03:30', 30, berlin], ['2026-03-29T01:15:00.000Z']],
  // The next day has no midnight.
  [['2018-11-03', '23:00', '24:00', 60, 'America/Sao_Paulo'], ['2018-11-04T02:00:00.000Z']],
  // The whole day was left out.
  [['2011-12-30', '09:00', '11:00', 30, 'Pacific/Apia'], []],
  [['2026-01-31', '09:00', '08:00', 30], 'to must not be earlier than from'],
  [['2026-01-31', '9:00', '10:00', 30], 'from must be a time of the day such as 09:30'],
  [['2026-01-31', '09:00', '25:00', 30], 'to must be a time of the day such as 09:30'],
  [['2026-01-31', '09:00', '10:00', 0], 'step must be at least 1 minute'],
  [['2026-01-31', '09:00', '10:00', 5, 'Mars/Olympus'], noZone],
  [['9999-12-31', '09:00', '24:00', 5], 'day gives a date outside the years 0 to 9999'],
])('timesOfDay(%j)', (input, expected) => {
  expect(callFunction('timesOfDay', input)).toEqual(expected)
})

test('without a zone and a locale those of the context are used', () => {
  const context = functionContext({ timeZone: 'Pacific/Auckland', locale: 'fr-FR' })
  expect(callFunction('format', ['2026-01-31T12:30Z', 'd MMMM HH:mm'], context)).toBe('1 février 01:30')
  expect(callFunction('startOf', ['2026-01-31T12:30Z', 'day'], context)).toBe('2026-01-31T11:00:00.000Z')
})

const units = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds']
const instant = fc
  .date({ min: new Date('1980-01-01T00:00Z'), max: new Date('2060-01-01T00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString())
const zone = fc.constantFrom('UTC', berlin, newYork, 'Asia/Kolkata', 'Australia/Lord_Howe')

test('adding the units between two instants does not go past the second, and one more does', () => {
  fc.assert(
    fc.property(instant, instant, fc.constantFrom(...units), zone, (x, y, unit, zone) => {
      const [a, b] = x < y ? [x, y] : [y, x]
      const count = Number(callFunction('between', [a, b, unit, zone]))
      const added = (amount: number) => String(callFunction('addTo', [a, { [unit]: amount }, zone]))
      expect(added(count) <= b).toBe(true)
      expect(added(count + 1) > b).toBe(true)
    }),
  )
})

test('what is formatted with an offset is parsed to the same instant', () => {
  fc.assert(
    fc.property(instant, zone, (date, zone) => {
      const pattern = 'd MMMM yyyy, hh:mm:ss.SSS a XXX'
      expect(callFunction('parseDate', [callFunction('format', [date, pattern, zone]), pattern])).toBe(date)
    }),
  )
})

test('parseDate reads what format writes, by every pattern that says which date it is', () => {
  const days = fc
    .integer({ min: 0, max: 60_000 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10))
  const patterns = fc.constantFrom(
    'yyyy-MM-dd',
    'd.M.y',
    "EEEE YYYY-'W'ww",
    'EEE, d MMM yyyy',
    "'Q'Q yyyy MMMM dd",
  )
  fc.assert(
    fc.property(days, patterns, (day, pattern) => {
      expect(callFunction('parseDate', [callFunction('format', [day, pattern]), pattern])).toBe(day)
    }),
  )
})
