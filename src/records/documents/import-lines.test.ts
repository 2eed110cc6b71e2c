import { afterEach, expect, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { batchesOf } from './import-batch.ts'
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
