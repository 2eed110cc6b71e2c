/** Filters that lead through references: exports find what a search finds; a change of many refuses them and changes nothing. */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { xlsxRows } from '../../src/blocks/rows/xlsx-rows.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const path = '/_system/storages/bills/documents'
/** Numbers of the bills that are found: 1 of Ann, 2 of Bob, 3 of Cat without a city, 4 of none. */
const led: readonly (readonly [JsonObject, readonly number[]])[] = [
  [{ 'payer.name': 'Ann' }, [1]],
  [{ 'payer.name': ['Ann', 'Bob'], n: { gte: 2 } }, [2]],
  [{ 'payer.name': { not: 'Ann' } }, [2, 3, 4]],
  [{ 'payer.city': { exists: true } }, [1, 2]],
  [{ 'payer.city': { exists: false } }, [3, 4]],
  [{ 'payer.firm.name': 'Acme' }, []],
]
const kinds = ['update', 'remove', 'delete', 'restore'] as const
const wheres = ['doc.payer.city == null', 'doc.payer.name != "Ann"', 'doc.n > 0 || doc.payer.name == "x"']

let quoin: TestQuoin
let blueprint: string
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  for (const name of ['people', 'bills']) await quoin.manage('POST', '/_system/storages', { name })
  const flows = kinds.flatMap((kind) =>
    wheres.flatMap((where, at) =>
      ['now', 'later'].map((when): [string, JsonObject] => {
        const name = `${kind}_${when}_${at}`
        const set = kind === 'update' ? { set: { touched: true } } : {}
        return [
          name,
          {
            [name]: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
            [`${name}_many`]: {
              type: `function_${kind}_many`,
              in: {
                flow: `@${name}.flow`,
                storage: 'bills',
                where: `=${where}`,
                in_background: when === 'later',
                ...set,
              },
            },
            [`${name}_end`]: {
              type: 'httpconnection_set_json',
              in: { flow: `@${name}_many.flow`, value: 'done' },
            },
          },
        ]
      }),
    ),
  )
  // Before the field is a reference: a deploy refuses it then.
  blueprint = await quoin.install('Many', Object.assign({}, ...flows.map(([, blocks]) => blocks)))
  const reference = { storage: 'people', on_delete: 'clear' }
  for (const field of [
    { storage: 'bills', name: 'n', type: 'number' },
    { storage: 'bills', name: 'payer', type: 'reference', reference },
    { storage: 'people', name: 'tax', type: 'string', visible_to: 'contains(user.scopes, "tax")' },
  ])
    await quoin.manage('POST', '/blueprintfields', field)
  const make = async (storage: string, body: JsonObject) =>
    guidOf(await quoin.manage('POST', `/_system/storages/${storage}/documents`, body))
  const people = [{ name: 'Ann', city: 'Rome', tax: 'T1' }, { name: 'Bob', city: 'Oslo' }, { name: 'Cat' }]
  for (const [at, person] of people.entries())
    await make('bills', { n: at + 1, payer: await make('people', person) })
  await make('bills', { n: 4 })
  await quoin.manage('DELETE', `${path}/${await make('bills', { n: 5 })}`)
  await quoin.addUser('clerk', ['storages_view'])
})
afterAll(() => quoin?.close())

const numbers = (rows: readonly unknown[]) => rows.map(Number).sort()
const lines = (text: string) => text.split(/\r?\n/).filter((line) => line !== '')

async function take(format: string, input: Readonly<Record<string, unknown>>, as = 'admin') {
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries(input)) query.set(name, JSON.stringify(value))
  const { statusCode, rawPayload, body } = await quoin.quoin.server.app.inject({
    url: `/api/v1${path}/export?${query}`,
    headers: { authorization: `Bearer ${await quoin.tokenOf(as)}` },
  })
  if (statusCode !== 200) return [[statusCode, String(objectOf(JSON.parse(body)).error)]]
  if (format === 'ndjson') return lines(body).map((line) => [JSON.parse(line).n])
  if (format === 'csv')
    return lines(body)
      .map((line) => line.split(','))
      .slice(1)
  const read = (start: number, end: number) => Readable.from([rawPayload.subarray(start, end + 1)])
  return (await Array.fromAsync(xlsxRows({ size: rawPayload.length, read })))
    .map(({ cells }) => cells)
    .slice(1)
}

const exported = async (format: string, filters: JsonObject, as?: string) =>
  numbers((await take(format, { columns: ['n'], filters }, as)).map(([n]) => n))

describe.each(led)('%j', (filters, found) => {
  test('is found by a search, and by an export in each format', async () => {
    const searched = await quoin.manage('POST', `${path}/search`, { filters })
    expect(numbers(objectsOf(searched).map(({ n }) => n))).toEqual(found)
    for (const format of ['ndjson', 'csv', 'xlsx'])
      expect([format, await exported(format, filters)]).toEqual([format, found])
  })

  test.each([
    ['update-many', { set: { touched: true } }],
    ['remove-many', {}],
    ['remove-many', { hard: true, include_removed: true }],
    ['restore-many', {}],
  ] as const)('is refused by %s %j', async (way, more) => {
    const before = await all()
    for (const later of [{}, { in_background: true }]) {
      const refused = await quoin.send('POST', `${path}/${way}`, {
        as: 'admin',
        body: { filters, ...more, ...later },
      })
      expect([refused.status, refused.body]).toEqual([
        400,
        expect.objectContaining({
          error: 'INVALID_QUERY',
          message: expect.stringContaining('fields of the storage people'),
          fields: ['filters'],
        }),
      ])
    }
    expect(await all()).toEqual(before)
  })
})

const all = () => quoin.manage('POST', `${path}/search`, { include_removed: true, sort: [{ n: 'asc' }] })

test.each(kinds.flatMap((kind) => wheres.map((where, at) => [kind, where, at] as const)))(
  'the block %s many where %s',
  async (kind, _where, at) => {
    const before = await all()
    for (const when of ['now', 'later']) {
      const { status, text } = await quoin.send('POST', `/${kind}_${when}_${at}`)
      expect([status, text]).toEqual([422, expect.stringContaining('search for them first')])
    }
    expect(await all()).toEqual(before)
  },
)

test('a deploy refuses each of the blocks', async () => {
  const refused = await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: 'admin' })
  const pins = objectsOf(objectOf(refused.body).problems).map(({ pin }) => pin)
  expect([refused.status, pins]).toEqual([422, Array.from({ length: 24 }, () => 'where')])
})

test('a field that is hidden there is hidden from an export too', async () => {
  const filters = { 'payer.tax': 'T1' }
  for (const format of ['ndjson', 'csv', 'xlsx']) {
    expect([[], [400]]).toContainEqual(await exported(format, filters, 'clerk'))
    expect(await exported(format, { 'payer.name': 'Ann' }, 'clerk')).toEqual([1])
    expect(await exported(format, filters)).toEqual([1])
  }
})

test.each(['csv', 'xlsx'])(
  'columns of a %s lead through references, and hide there what rules hide',
  async (format) => {
    const asked = { columns: ['n', 'payer.name', 'payer.tax'], sort: [{ n: 'asc' }] }
    const rows = async (as?: string) => (await take(format, asked, as)).map((cells) => cells.map(String))
    const names = ['Ann', 'Bob', 'Cat', '']
    expect(await rows()).toEqual(names.map((name, at) => [`${at + 1}`, name, at === 0 ? 'T1' : '']))
    expect(await rows('clerk')).toEqual(names.map((name, at) => [`${at + 1}`, name, '']))
  },
)

test('an export is not in the order of another document', async () => {
  const query = new URLSearchParams({ sort: '[{"payer.name":"asc"}]' })
  const refused = await quoin.send('GET', `${path}/export?${query}`, { as: 'admin' })
  expect([refused.status, objectOf(refused.body).fields]).toEqual([400, ['sort']])
})
