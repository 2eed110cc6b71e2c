import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { JsonValue } from '../../shared/json.ts'
import writeFile from './write_file.ts'

const MIB = 1024 * 1024

let fixture: FileFixture

beforeAll(async () => {
  fixture = await openFileFixture()
})
afterEach(() => fixture.empty())
afterAll(() => fixture.close())

const write = (inputs: Readonly<Record<string, unknown>>) => fixture.run(writeFile, { inputs })
/** Directory, name and size of each file, oldest first. */
const stored = async () =>
  (await fixture.records()).map(({ directory, name, size }) => [directory, name, size])

test.each([
  ['no content', { name: 'a' }, { pin: 'content', message: 'is empty' }],
  ['no name', { content: 'x' }, { pin: 'name', message: 'is empty' }],
  [
    'more than 16 MiB of text',
    { name: 'a', content: 'a'.repeat(16 * MIB + 1) },
    { pin: 'content', message: 'must be at most 500,000 values and 16 MiB of text' },
  ],
  [
    'more than 500,000 values',
    { name: 'a', content: Array.from({ length: 500_000 }, () => 1) },
    { pin: 'content', message: 'must be at most 500,000 values and 16 MiB of text' },
  ],
  ['a name with a slash', { name: '../a', content: 'x' }, { code: 'INVALID_BODY' }],
  ['the name ..', { name: '..', content: 'x' }, { code: 'INVALID_BODY' }],
  ['a name of 256 bytes', { name: 'a'.repeat(256), content: 'x' }, { code: 'INVALID_BODY' }],
  ['a name that hides its end', { name: 'a\u202etxt.exe', content: 'x' }, { code: 'INVALID_BODY' }],
  ['a directory with ..', { name: 'a', directory: 'a/../b', content: 'x' }, { code: 'INVALID_BODY' }],
  ['a directory from the root', { name: 'a', directory: '/etc', content: 'x' }, { code: 'INVALID_BODY' }],
])('refuses %s, and stores nothing', async (_what, inputs, problem) => {
  await expect(write(inputs)).rejects.toMatchObject(problem)
  expect([await stored(), await fixture.onDisk()]).toEqual([[], 0])
})

test('a refused write that replaces leaves the former file', async () => {
  await fixture.put('a', 'old')
  await expect(write({ name: 'a', content: 'a'.repeat(16 * MIB + 1), replace: true })).rejects.toMatchObject({
    pin: 'content',
  })
  expect(String(await fixture.content('a'))).toBe('old')
})

test.each<[string, JsonValue, string, string]>([
  ['text', 'Grüße', 'Grüße', 'text/plain'],
  ['text that is JSON', '{"a":1}', '{"a":1}', 'text/plain'],
  ['an empty text', '', '', 'text/plain'],
  ['a number', 1.5, '1.5', 'text/plain'],
  ['a condition', false, 'false', 'text/plain'],
  ['an object', { a: [1, 'ü'] }, '{"a":[1,"ü"]}', 'application/json'],
  ['a list', [], '[]', 'application/json'],
])('writes %s', async (_what, content, text, type) => {
  const { outputs, next } = await write({ name: ' a ', content })
  expect(next).toBe('flow')
  expect(String(await fixture.content('a'))).toBe(text)
  expect(outputs.file).toEqual({
    ...{ guid: expect.any(String), name: 'a', type, size: Buffer.byteLength(text) },
  })
})

test('writes 16 MiB of text', async () => {
  const { outputs } = await write({ name: 'a', content: 'a'.repeat(16 * MIB) })
  expect(outputs.file).toMatchObject({ size: 16 * MIB })
})

test.each([
  ['the type that is given', 'a', ' text/html ', 'text/html'],
  ['the usual type for an empty one', 'a', ' ', 'text/plain'],
  ['what the bytes say, against the type that is given', '%PDF-1.7\n', 'text/html', 'application/pdf'],
])('the file has %s', async (_what, content, type, expected) => {
  expect((await write({ name: 'a', content, type })).outputs.file).toMatchObject({ type: expected })
})

test('stores it in files, on behalf of the user of the run', async () => {
  await write({ name: 'a.txt', content: 'x' })
  expect(await fixture.records()).toMatchObject([
    { directory: 'files', public_path: null, created_by: { username: 'ada' } },
  ])
})

test('a second file of one name is stored beside the first', async () => {
  await write({ name: 'a', content: '1' })
  await write({ name: 'a', content: '22' })
  expect(await stored()).toEqual([
    ['files', 'a', 1],
    ['files', 'a', 2],
  ])
})

test('a file that replaces deletes all former ones of its name in its directory, and no other', async () => {
  await fixture.put('a', '1')
  await fixture.put('a', '22')
  await fixture.put('b', '333')
  await fixture.put('a', '4444', 'files/deep')
  await write({ name: ' a ', directory: ' files ', content: '55555', replace: true })
  expect(await stored()).toEqual([
    ['files', 'b', 3],
    ['files/deep', 'a', 4],
    ['files', 'a', 5],
  ])
  expect(await fixture.onDisk()).toBe(3)
})

test('a public path that is taken is a conflict, unless the file replaces', async () => {
  const place = { name: 'a', directory: 'public/reports' }
  await write({ ...place, content: '1' })
  await expect(write({ ...place, content: '22' })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await stored()).toEqual([['public/reports', 'a', 1]])
  await write({ ...place, content: '333', replace: true })
  expect(await fixture.records()).toMatchObject([{ size: 3, public_path: 'reports/a' }])
})
