import { afterEach, expect, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { readBody } from './read-answer.ts'

afterEach(() => vi.restoreAllMocks())

const answer = (text: string | Uint8Array, type = 'application/json') => ({
  code: 200,
  headers: { 'content-type': type },
  url: new URL('http://server.invalid/'),
  bytes: Buffer.from(text),
})

const long = (item: string) => `[${`${item},`.repeat(Math.floor(1_000_000 / (item.length + 1)))}null]`

test.each([
  ['lists', long('[]')],
  ['objects of objects', `{"a":{"b":${long('{"c":{}}')}}}`],
  ['numbers of 16 digits', long('1234567890123456')],
  ['names', `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":[]`).join(',')}}`],
])('a megabyte of %s is read in turns', async (_, text) => {
  slowSteps()
  let body: unknown
  const turns = await turnsDuring(async () => {
    body = await readBody(answer(text), 'refuse')
  })
  expect(JSON.stringify(body)).toBe(JSON.stringify(JSON.parse(text)))
  expect(turns).toBeGreaterThan(10)
})

test.each<[string, string, string, unknown]>([
  ['a number that is too long', `{"a":${long('1')},"id":12345678901234567890}`, 'refuse', /id/],
  ['one that becomes a text', `[${'1,'.repeat(50_000)}12345678901234567890]`, 'text', '12345678901234567890'],
])('%s, behind many others', async (_, text, longNumbers, expected) => {
  const read = readBody(answer(text), longNumbers)
  if (expected instanceof RegExp) await expect(read).rejects.toThrow(expected)
  else expect([await read].flat().at(-1)).toBe(expected)
})

test.each([
  ['an object of 100,001 names', `{${Array.from({ length: 100_001 }, (_, at) => `"k${at}":1`).join(',')}}`],
  ['a list that does not end', `[${'1,'.repeat(100_000)}`],
  ['half of a surrogate pair', `["\\ud800",${long('1').slice(1)}`],
])('%s stays text', async (_, text) => {
  expect(await readBody(answer(text), 'refuse')).toBe(text)
})

test('a character that two pieces share is read whole', async () => {
  const bytes = Buffer.from(`x${'é'.repeat(1_000_000)}`)
  expect((await readBody(answer(bytes, 'text/plain'), 'refuse')) === bytes.toString()).toBe(true)
})
