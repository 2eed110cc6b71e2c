import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import { MissingError, PinError } from '../block.ts'
import readFile from './read_file.ts'

const MIB = 1024 * 1024

let fixture: FileFixture
let older: string
let newer: string

beforeAll(async () => {
  fixture = await openFileFixture()
  older = await fixture.put('a.txt', 'old')
  newer = await fixture.put('a.txt', 'Grüße')
  await fixture.put('bytes', Buffer.from([0xff, 0xfe]))
  await fixture.put('empty', '')
  await fixture.put('largest', 'a'.repeat(MIB))
  await fixture.put('too large', 'a'.repeat(MIB + 1))
})
afterAll(() => fixture.close())

const read = (file: unknown, encoding = 'utf-8') =>
  fixture.run(readFile, { inputs: { file }, fields: { encoding } })

test.each([
  ['no file', undefined, PinError, 'is empty'],
  ['an object without a guid', {}, PinError, 'guid or the name'],
  ['a number', 7, PinError, 'guid or the name'],
  ['an unknown name', 'none.txt', MissingError, 'names no asset'],
  ['an unknown guid', '0190f2a0-0000-7000-8000-000000000000', MissingError, 'names no asset'],
  ['bytes that are no text', 'bytes', PinError, 'is not UTF-8 text'],
  ['a byte more than 1 MiB', 'too large', PinError, 'has more than 1048576 bytes'],
])('refuses %s, on the pin of the file', async (_what, file, kind, message) => {
  await expect(read(file)).rejects.toMatchObject({
    ...{ constructor: kind, pin: 'file', message: expect.stringContaining(message) },
  })
})

test('refuses a byte more than 1 MiB in Base64 as well', async () => {
  await expect(read('too large', 'base64')).rejects.toMatchObject({ constructor: PinError, pin: 'file' })
})

test.each([
  ['its guid', () => older, 'old'],
  ['its name, the newest of that name', () => ' a.txt ', 'Grüße'],
  ['the value of a field', () => ({ guid: older, name: 'another name' }), 'old'],
])('reads a file by %s', async (_what, file, text) => {
  const { outputs, next } = await read(file())
  expect({ next, text: outputs.text }).toEqual({ next: 'flow', text })
})

test('gives what fields of the type file hold, and nothing more of the record', async () => {
  expect((await read('a.txt')).outputs.file).toEqual({
    ...{ guid: newer, name: 'a.txt', type: 'text/plain', size: 7 },
  })
})

test.each([
  ['bytes', 'base64', '//4='],
  ['a.txt', 'base64', 'R3LDvMOfZQ=='],
  ['empty', 'utf-8', ''],
  ['empty', 'base64', ''],
  ['largest', 'utf-8', 'a'.repeat(MIB)],
])('%s in %s', async (name, encoding, text) => {
  expect((await read(name, encoding)).outputs.text === text).toBe(true)
})
