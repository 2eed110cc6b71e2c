/** Parts of dates on PostgreSQL against the reference, for many dates in each statement: whole, and cut to what many of them share. */
import fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { type DatePart, dateParts } from '../../aggregate/aggregate.ts'
import { datePart, FIRST_SECOND, LAST_SECOND, zoneOffsets } from '../../aggregate/date-part.ts'
import { sql } from '../../search/compiled-sql.ts'
import { openPostgresPool } from '../core/postgres-connection.ts'
import { migratePostgres, postgresMigrations } from '../core/postgres-parts.ts'
import { type DateColumn, dateBucketSql, datePartSql, instantBucket } from './date-bucket-sql.ts'
import { statement, texts } from './field-sql.ts'

let temporary: TemporaryDatabase
let client: Client
beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  const pool = openPostgresPool({ url: temporary.url, connections: 1, pooled: false })
  await migratePostgres(pool, await postgresMigrations())
  await pool.close()
  client = new Client({ connectionString: temporary.url })
  await client.connect()
})
afterAll(async () => {
  await client?.end()
  await temporary?.drop()
})

/** Whole hours, half and quarter hours, and clocks that were once set to minutes and seconds. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Singapore',
  'Australia/Lord_Howe',
  'Africa/Monrovia',
  'Pacific/Apia',
  'America/Sao_Paulo',
]
const twoDigits = (most: number) => fc.nat(most).map((number) => String(number).padStart(2, '0'))

/** Around changes of clocks and the ends of years, in any year of the zone's table and beyond. */
const someSecond = fc.oneof(
  fc.integer({ min: -62_200_000_000, max: 253_500_000_000 }),
  fc.integer({ min: -2_300_000_000, max: 7_400_000_000 }),
  fc.constantFrom(FIRST_SECOND - 1, FIRST_SECOND, LAST_SECOND, LAST_SECOND + 1),
  fc
    .record({
      zone: fc.constantFrom(...zones),
      at: fc.nat(),
      off: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: -7_200, max: 7_200 })),
    })
    .map(({ zone, at, off }) => {
      const { changes } = zoneOffsets(zone)
      return (changes[at % Math.max(1, changes.length)] ?? 0) + off
    }),
)
const someInstant = fc
  .record({ second: someSecond, millisecond: fc.constantFrom(0, 1, 999) })
  .map(({ second, millisecond }) => new Date(second * 1000 + millisecond).toISOString())
/** Dates that may not be there, such as 30 February, 24:00 and 10:60. */
const somePieces = fc
  .record({
    year: fc.constantFrom('0000', '0001', '1899', '1900', '1972', '2024', '2026', '2199', '2200', '9999'),
    month: twoDigits(13),
    day: twoDigits(32),
    hour: twoDigits(25),
    minute: twoDigits(61),
    second: twoDigits(61),
    fraction: fc.constantFrom('.000', '.999', '', '.5', '.1234567891', '.00x'),
    zone: fc.constantFrom('Z', 'Z', 'z', '', '+05:45', '-23:59', '+24:00', 'Z '),
    between: fc.constantFrom('T', 'T', 't', ' ', '_'),
  })
  .map(
    (p) => `${p.year}-${p.month}-${p.day}${p.between}${p.hour}:${p.minute}:${p.second}${p.fraction}${p.zone}`,
  )
/** With one wrong character. */
const someNearly = fc
  .record({
    text: fc.oneof(someInstant, somePieces),
    at: fc.nat(30),
    as: fc.constantFrom('9', '-', ':', 'x', '٣', '"', '\\', ' ', ''),
  })
  .map(({ text, at, as }) => text.slice(0, at) + as + text.slice(at + 1))
const someValue: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: someInstant },
  { weight: 3, arbitrary: somePieces },
  { weight: 2, arbitrary: someNearly },
  { weight: 1, arbitrary: someInstant.map((text) => text.slice(0, 10)) },
  { weight: 2, arbitrary: someSecond },
  { weight: 2, arbitrary: someSecond.map((second) => second * 1000 + 999) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>(null, true, [], {}, '', '1700000000', '-1234-01-01', 1e15, 1e300),
  },
)

const json: DateColumn = { kind: 'json', read: 'item' }
const key: DateColumn = { kind: 'key', read: 'key', number: 'number', quarter: 'quarter' }
const KEYED = `quoin_full_key(item) COLLATE "C" AS key, quoin_column_number(item) AS number, quoin_column_quarter(item) AS quarter`

function bucketOf(column: DateColumn, zone: string | undefined): string {
  const whole = dateBucketSql(column, zone)
  const instants = instantBucket(column, zone)
  if (instants === undefined) return whole
  const { number, isOther } = instants
  return `CASE WHEN ${number} IS NOT NULL THEN ${instants.bucket(number)} WHEN ${isOther} THEN ${whole} END`
}

/** What PostgreSQL gives for each of them. */
async function partsOf(
  values: readonly JsonValue[],
  part: DatePart,
  zone: string,
  column: DateColumn,
  cut: boolean,
) {
  const bucket = bucketOf(column, cut ? zone : undefined)
  const items = texts(values.map((value) => JSON.stringify(value)))
  const { text, values: parameters } = statement(
    sql`SELECT ${datePartSql('bucket', part, zone)} AS part FROM (SELECT ${bucket} AS bucket FROM (SELECT item, ${KEYED}, at FROM (SELECT text::json AS item, at FROM unnest(${items}) WITH ORDINALITY AS all_of_them(text, at)) AS texts ORDER BY at OFFSET 0) AS items ORDER BY at OFFSET 0) AS buckets`,
  )
  const { rows } = await client.query(text, parameters)
  return rows.map((row) => (row.part === null ? null : Number(row.part)))
}

const cases = fc.record({
  values: fc.array(someValue, { minLength: 200, maxLength: 400 }),
  part: fc.constantFrom(...dateParts),
  zone: fc.constantFrom(...zones),
})

test.each([
  ['whole', json, false],
  ['cut', json, true],
  ['keys', key, false],
  ['keys with quarters of hours', key, true],
])('dates that are %s are in the part that the reference gives', async (_, column, cut) => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ values, part, zone }) => {
      const input = await partsOf(values, part, zone, column, cut)
      const expected = values.map((value) => datePart(value, part, zoneOffsets(zone)))
      const wrong = values.flatMap((value, at) =>
        Object.is(input[at], expected[at]) ? [] : [[value, input[at], expected[at]]],
      )
      expect(wrong).toEqual([])
    }),
    { numRuns: 150 },
  )
})

test.each([
  ['Europe/Berlin', 24],
  // Half an hour from all others: four in an hour.
  ['Asia/Kolkata', 24 * 4],
])('the instants of a day have few forms where clocks are those of %s', async (zone, forms) => {
  const instants = Array.from({ length: 1_440 }, (_, minute) => Date.UTC(2026, 2, 29) + minute * 60_000)
  for (const values of [instants, instants.map((at) => new Date(at).toISOString())]) {
    const items = texts(values.map((value) => JSON.stringify(value)))
    const { text, values: parameters } = statement(
      sql`SELECT count(DISTINCT ${dateBucketSql({ kind: 'json', read: 'item' }, zone)})::integer AS n FROM (SELECT unnest(${items})::json AS item) AS items`,
    )
    expect((await client.query(text, parameters)).rows).toEqual([{ n: forms }])
  }
})
