import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { batchesOf } from './import-batch.ts'
import { columnTargets } from './import-columns.ts'
import { ndjsonRows } from './import-rows.ts'
import { linesOf, parseLine } from './ndjson-lines.ts'

afterEach(() => vi.restoreAllMocks())

test('lines that are read at once are handed on in turns, also where all are refused', async () => {
  async function* rows() {
    for await (const { number, bytes } of linesOf(chunks('x\n'.repeat(4_000))))
      yield { line: number, size: bytes.length, read: () => ({ document: {}, reasons: {} }) }
  }
  slowSteps()
  let seen = 0
  const turns = await turnsDuring(async () => {
    for await (const batch of batchesOf(rows, '')) seen += batch.length
  })
  expect(seen).toBe(4_000)
  expect(turns).toBeGreaterThan(15)
})

async function* chunks(text: string) {
  yield Buffer.from(text)
}

test.each([
  [
    'a megabyte of empty lists',
    `{"a":[${'[],'.repeat(340_000)}[]]}`,
    'Line 7: It holds more than 50,000 objects and lists',
  ],
  ['lists that never end', '['.repeat(1_000_000), 'Line 7: It is nested deeper than 64 levels'],
  ['1.2 MB of numbers', `{"a":[${'1,'.repeat(600_001)}1]}`, 'Line 7: It holds more than 600,000 values'],
])('a line of %s is refused before it is parsed', (_, text, message) => {
  const parse = vi.spyOn(JSON, 'parse')
  expect(() => parseLine({ number: 7, bytes: Buffer.from(text) })).toThrow(message)
  expect(parse).not.toHaveBeenCalled()
})

test('a line that holds as many parts as a body may is a document', () => {
  const text = `{"a":[${'[],'.repeat(49_000)}[]]}`
  expect(parseLine({ number: 1, bytes: Buffer.from(text) })).toEqual(JSON.parse(text))
})

test.each([
  [
    'objects',
    JSON.stringify({
      a: Array.from({ length: 4_000 }, (_, n) => ({ n, text: 'a text of a use '.repeat(16) })),
    }),
  ],
  ['one text of escapes', `{"a":"${'\\u0041'.repeat(200_000)}"}`],
])('a line of a megabyte is parsed in turns: %s', async (_, text) => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-lines-'))
  try {
    const path = join(folder, 'lines.ndjson')
    await writeFile(path, `${text}\n{"b":1}\n`)
    const parse = vi.spyOn(JSON, 'parse')
    slowSteps()
    const documents: unknown[] = []
    // Which reading the file does not call, however many turns it takes.
    const turns = vi.spyOn(globalThis, 'setImmediate')
    for await (const row of ndjsonRows(path)) documents.push(row.read().document)
    const paused = turns.mock.calls.length
    const longest = Math.max(...parse.mock.calls.map(([one]) => one.length))
    vi.restoreAllMocks()
    expect(documents).toEqual([JSON.parse(text), { b: 1 }])
    expect(longest).toBeLessThan(131_072)
    expect(paused).toBeGreaterThan(30)
  } finally {
    await rm(folder, { recursive: true })
  }
})

const long = 'x'.repeat(70_000)
test.each([
  ['a name __proto__', '{"__proto__":{"a":1}}', 'It has a key named __proto__.'],
  ['such a name of a long value', `{"__proto__":"${long}"}`, 'It has a key named __proto__.'],
  [
    'a constructor with a prototype',
    '{"a":[{"constructor":{"prototype":{}}}]}',
    'It has a key that would change',
  ],
  [
    'such a constructor with escapes',
    '{"\\u0063onstructor":{"prototype":{}}}',
    'It has a key that would change',
  ],
  [
    'such a constructor that is long',
    `{"constructor":{"a":"${long}","prototype":1}}`,
    'It has a key that would change',
  ],
  ['U+0000 in a name', '{"a\\u0000":1}', 'It holds the character U+0000.'],
  ['U+0000 in the name of a long value', `{"a\\u0000":"${long}"}`, 'It holds the character U+0000.'],
  ['U+0000 in a long text', `{"a":"\\u0000${long}"}`, 'It holds the character U+0000.'],
  ['half a character in a long text', `{"a":"${long}\\ud83d"}`, 'It holds half of a surrogate pair.'],
  ['a list', `["${long}"]`, 'It is not a JSON object.'],
  ['a number that is cut off', `{"a":"${long}","b":12345678901234567890}`, 'It holds the number'],
])('a line with %s is refused', (_, text, message) => {
  expect(() => parseLine({ number: 7, bytes: Buffer.from(text) })).toThrow(`Line 7: ${message}`)
})

test('a line with a constructor that is a text is a document', () => {
  expect(parseLine({ number: 1, bytes: Buffer.from('{"constructor":"Ann"}') })).toEqual({
    constructor: 'Ann',
  })
})

test('a column by a former name goes into the field, unless another field has that name', () => {
  const field = {
    storage: 'staff',
    type: 'number',
    required: false,
    defaultValue: undefined,
    limits: {},
  } as const
  const rules = [
    { ...field, name: 'pay', formerNames: ['salary', 'fee'] },
    { ...field, name: 'fee' },
  ]
  const targets = columnTargets(['Salary', 'fee'], { rules, named: [], mapping: {}, formats: {} })
  expect(targets.map((one) => one.field)).toEqual(['pay', 'fee'])
})
