/** The files of an application: the same bytes for the same application, and a place for all that is wrong. */
import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Steps } from '../cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { normalApplication, normalSteps } from './application.ts'
import { releasedOnly } from './application-changes.ts'
import { applicationOf, filesOf, readingSteps } from './application-files.ts'
import { canonicalJson, canonicalSteps } from './canonical-json.ts'
import { placedJsonSteps, readPlacedJson } from './json-places.ts'

const fileName = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
const json = fc.jsonValue({ maxDepth: 4 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)))
const objects = (value: fc.Arbitrary<JsonObject>) => fc.dictionary(fileName, value, { maxKeys: 4 })
const some = (input: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(input, { requiredKeys: [] }).map((value): JsonObject => JSON.parse(JSON.stringify(value)))

const block = fc.record({
  type: fileName,
  in: fc.dictionary(fileName, json),
  fields: fc.dictionary(fileName, json),
})
const blueprint = some({
  description: fc.string(),
  blocks: fc.dictionary(fileName, block),
  layout: fc.dictionary(fileName, fc.tuple(fc.integer(), fc.integer())),
})
const field = some({
  type: fc.constantFrom('string', 'number', 'autonumber'),
  label: fc.string(),
  required: fc.boolean(),
  unique: fc.boolean(),
})
const application = fc
  .record({
    about: some({
      name: fileName,
      title: fc.string(),
      needs: some({ env: fc.array(fileName) }),
      uses: fc.array(fileName),
    }),
    blueprints: objects(blueprint).map((all) => withNames(all)),
    storages: objects(
      some({ history: fc.boolean(), description: fc.string(), fields: fc.dictionary(fileName, field) }),
    ),
    groups: objects(some({ scopes: fc.array(fileName) })),
    templates: objects(
      some({ content: json, css: fc.constantFrom('', 'a { }\n'), js: fc.constantFrom('', 'x()') }),
    ).map((all) => withNames(all)),
    connections: objects(some({ base_url: fc.string(), headers: fc.dictionary(fileName, fc.string()) })),
    alerts: objects(some({ figure: fileName, threshold: fc.integer(), mail: fc.array(fc.string()) })),
    views: fc.dictionary(fc.string({ minLength: 1 }), some({ storage: fileName, address: fc.string() })),
    queues: objects(some({ concurrency: fc.integer() })),
    seed: objects(some({ documents: fc.array(fc.dictionary(fileName, json)) })),
    tests: objects(some({ steps: fc.array(json), ndjson: fc.constantFrom('', '{"a": 1}\r\n\n') })),
  })
  .map((input) => normalApplication(JSON.parse(JSON.stringify(input))))

function withNames(all: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, { name: `The ${name}`, ...one }]))
}

test('an application that is written and read is the same, and is written with the same bytes', () => {
  fc.assert(
    fc.property(application, (input) => {
      const files = filesOf(input)
      const { application: read, problems } = applicationOf(files)
      // Long numbers are refused, and generated ones may be.
      const reported = problems.filter(
        ({ message }) =>
          !message.includes('digit by digit') &&
          !message.includes('surrogate') &&
          !message.includes('U+0000') &&
          !message.includes('__proto__') &&
          !message.startsWith('a line'),
      )
      expect(reported).toEqual([])
      if (problems.length === 0) expect(filesOf(read)).toEqual(files)
      if (
        problems.length === 0 &&
        Object.values(input.seed).every(({ documents }) => Array.isArray(documents))
      )
        expect(read).toEqual(input)
    }),
    { numRuns: 30 },
  )
})

test('canonical JSON is JSON of the same value, and each part of what is opened has its own lines', () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 0, max: 3 }), (value, opened) => {
      expect(JSON.parse(canonicalJson(value, opened))).toEqual(value)
    }),
  )
  const before = canonicalJson({ blocks: { a: { type: 'x' }, b: { type: 'y' }, c: {} } }, 2).split('\n')
  const after = canonicalJson({ blocks: { a: { type: 'x' }, c: {} } }, 2).split('\n')
  expect(before.filter((line) => !after.includes(line))).toEqual(['    "b": { "type": "y" },'])
  expect(after.filter((line) => !before.includes(line))).toEqual([])
})

test('every part of a JSON text has its place', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      const { placeOf, value: read } = readPlacedJson(text)
      if (read === undefined) return
      const lines = text.split('\n')
      const look = (path: (string | number)[], part: JsonValue): void => {
        const { line, column } = placeOf(path)
        const rest = [(lines[line - 1] ?? '').slice(column - 1), ...lines.slice(line)].join('\n')
        expect(rest.startsWith(JSON.stringify(part, undefined, 0).slice(0, 1))).toBe(true)
        if (Array.isArray(part)) for (const [at, one] of part.entries()) look([...path, at], one)
        else if (isJsonObject(part))
          for (const [name, one] of Object.entries(part)) look([...path, name], one)
      }
      look([], read)
    }),
  )
})

describe('what is wrong with a file has its line and column', () => {
  test.each<[string, Record<string, string>, string]>([
    ['no quoin.json', {}, 'quoin.json:1:1 is missing'],
    [
      'a comma too many',
      { 'quoin.json': '{\n  "name": "a",\n}' },
      'quoin.json:3:1 not JSON: a name in double quotes',
    ],
    [
      'a text without an end',
      { 'quoin.json': '{ "name": "a }' },
      'quoin.json:1:11 not JSON: the text that begins here',
    ],
    ['text behind the end', { 'quoin.json': '{}\n{}' }, 'quoin.json:2:1 not JSON: there is text behind'],
    [
      'a file that ends too early',
      { 'quoin.json': '{ "a": [1,\n' },
      'quoin.json:2:1 not JSON: it ends too early',
    ],
    ['a word', { 'quoin.json': '{ "a": yes }' }, 'quoin.json:1:8 not JSON: "yes" is no value'],
    [
      'nesting',
      { 'quoin.json': `{ "a": ${'['.repeat(100_000)}` },
      'quoin.json:1:72 not JSON: it is nested deeper',
    ],
    [
      'a name that stands twice',
      { 'quoin.json': '{ "name": "a",\n  "name": "b" }' },
      'quoin.json:2:3 "name" stands twice',
    ],
    [
      'a number that loses digits',
      { 'quoin.json': '{ "name": 12345678901234567890 }' },
      'quoin.json:1:1 the file holds the number',
    ],
    [
      'an unknown file',
      { 'quoin.json': '{}', 'storage/a.json': '{}' },
      'storage/a.json:1:1 Quoin knows no such file',
    ],
    [
      'capitals',
      { 'quoin.json': '{}', 'storages/Deals.json': '{}' },
      'storages/Deals.json:1:1 the name must be lower-case',
    ],
    ['another ending', { 'quoin.json': '{}', 'tests/a.json': '{}' }, 'tests/a.json:1:1 the name must be'],
    ['a list', { 'quoin.json': '[]' }, 'quoin.json:1:1 must be an object'],
    [
      'a style without its template',
      { 'quoin.json': '{}', 'templates/a.css': '' },
      'templates/a.json:1:1 is missing',
    ],
    [
      'a line of a seed',
      { 'quoin.json': '{}', 'seed/a.ndjson': '{}\n{ "a" }' },
      'seed/a.ndjson:2:7 not JSON: a colon',
    ],
    [
      'groups that differ in case only',
      { 'quoin.json': '{}', 'groups.json': '{ "groups": {\n  "Sales": {},\n  "sales": {} } }' },
      'groups.json:3:12 the name "sales" differs only in case',
    ],
    [
      'templates that differ in composition only',
      {
        'quoin.json': '{}',
        'templates/a.json': '{ "name": "\u00e4" }',
        'templates/b.json': '{ "name": "a\u0308" }',
      },
      'templates/b.json:1:11 the name "a\u0308" differs only in case or composition',
    ],
    [
      'more first documents than a push takes',
      { 'quoin.json': '{}', 'seed/a.ndjson': '{}\n'.repeat(4_001) },
      'seed/a.ndjson:1:1 has more than 4000 lines',
    ],
  ])('%s', (_what, files, expected) => {
    const { problems } = applicationOf(new Map(Object.entries(files)))
    const lines = problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`)
    expect(lines).toContainEqual(expect.stringContaining(expected))
  })
})

const filled = (part: string) => part.repeat(Math.floor(200_000 / part.length))
const deep = (inner: string) => `${'['.repeat(50)}${inner}${']'.repeat(50)}`

test.each([
  ['numbers', `{"a":[${filled('1,')}1]}`],
  ['texts', `{"a":[${filled('"",')}1]}`],
  ['numbers deep down', `{"a":${deep(`${filled('1,')}1`)}}`],
  [
    'blocks',
    `{"blocks":{${Array.from({ length: 5_000 }, (_, at) => `"b${at}":{"type":"reply","in":{"a":1}}`).join(',')}}}`,
  ],
])('a file of 200 KB of %s is read and written in steps, and written once', (_what, text) => {
  const [value, read] = stepped(placedJsonSteps(text))
  expect(value.problems).toEqual([])
  expect(read).toBeGreaterThan(8)
  const parts = [...text.matchAll(/[,:[]/g)].length
  const write = vi.spyOn(JSON, 'stringify')
  const [, written] = stepped(canonicalSteps(value.value ?? null, 2))
  const calls = write.mock.calls.length
  write.mockRestore()
  expect(written).toBeGreaterThan(8)
  // Not once a level.
  expect(calls).toBeLessThan(3 * parts + 1_000)
})

test.each([
  ['objects that are empty', `[${filled('{},')}{}]`, '50,000 objects and lists'],
  ['lists in lists', `[${filled(`${deep('')},`)}1]`, '50,000 objects and lists'],
  [
    'names in one object',
    `{${Array.from({ length: 25_001 }, (_, at) => `"${at}":1`).join(',')}}`,
    'more than 25,000 names',
  ],
])('a file of many %s is refused before it is read whole', (_what, text, message) => {
  const { value, problems } = readPlacedJson(text)
  expect([value, problems]).toEqual([
    undefined,
    [expect.objectContaining({ message: expect.stringContaining(message) })],
  ])
})

const named = (count: number, value: JsonValue) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${(at * 7919) % count}`, value]))

test.each<[string, JsonObject]>([
  ['blueprints of many names', { blueprints: named(50, named(1_001, 1)) }],
  ['blocks', { blueprints: { a: { blocks: named(3_200, { type: 'x' }) } } }],
  ['pins', { blueprints: { a: { blocks: named(50, { in: named(500, 1) }) } } }],
  ['fields', { storages: { a: { fields: named(50, { type: 'string' }) } } }],
  ['places', { blueprints: { a: { layout: named(3_200, [0, 0]) } } }],
])('%s are put in order in steps', (_what, input) => {
  const [normal, taken] = stepped(normalSteps(input))
  expect(taken).toBeGreaterThan(49)
  expect(normal).toEqual(normalApplication(input))
})

function stepped<T>(steps: Steps<T>): readonly [T, number] {
  for (let taken = 0; ; taken++) {
    const { done, value } = steps.next()
    if (done) return [value, taken]
  }
}

test('files with an error in each line list 1,000 of them, and are read in steps', () => {
  const lines = '{\n'.repeat(3_000)
  const steps = readingSteps(new Map(['a', 'b'].map((name) => [`seed/${name}.ndjson`, lines])))
  const [{ problems }, taken] = stepped(steps)
  expect(problems).toHaveLength(1_000)
  expect(taken).toBeGreaterThan(999)
  expect(taken).toBeLessThan(1_100)
})

test('cases of an evaluation are a file of their own, byte for byte', () => {
  const files = new Map([
    ['tests/a.test.json', '{ "name": "A", "cases": "b.ndjson", "steps": [] }'],
    ['tests/a.ndjson', '{ "x": 1 }\r\n'],
    ['tests/b.ndjson', '\n{}'],
  ])
  const { application, problems } = applicationOf(new Map([['quoin.json', '{"name":"a"}'], ...files]))
  expect(problems).toEqual([])
  expect(Object.keys(application.tests)).toEqual(['a', 'b'])
  const written = filesOf(application)
  expect(['tests/a.ndjson', 'tests/b.ndjson'].map((path) => written.get(path))).toEqual([
    files.get('tests/a.ndjson'),
    files.get('tests/b.ndjson'),
  ])
  expect(written.has('tests/b.test.json')).toBe(false)
  const other = { ...application, tests: { a: { ...application.tests.a, ndjson: '{}' } } }
  expect(releasedOnly(application, other)).toEqual(['changed tests/a.ndjson', 'removed tests/b.ndjson'])
})

test('the key of first documents is their first line, and read again', () => {
  const lines = '{"$upsert_by":"code"}\n{"code":"a"}\n'
  const { application } = applicationOf(new Map([['seed/stages.ndjson', lines]]))
  expect(application.seed).toEqual({ stages: { upsert_by: 'code', documents: [{ code: 'a' }] } })
  expect(filesOf(application).get('seed/stages.ndjson')).toBe(lines)
})
