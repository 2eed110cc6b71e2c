import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { MissingError, PinError } from '../block.ts'
import deleteFile from './delete_file.ts'

let fixture: FileFixture
let older: string
let newer: string

beforeAll(async () => {
  fixture = await openFileFixture()
})
beforeEach(async () => {
  older = await fixture.put('a.txt', 'old')
  newer = await fixture.put('a.txt', 'newer')
})
afterEach(() => fixture.empty())
afterAll(() => fixture.close())

const remove = (file: unknown) => fixture.run(deleteFile, { inputs: { file } })
const left = async () => (await fixture.records()).map(guidOf)

test.each([
  ['no file', undefined, PinError, 'is empty'],
  ['an object without a guid', { name: 'a.txt' }, PinError, 'guid or the name'],
  ['a list', ['a.txt'], PinError, 'guid or the name'],
  ['an unknown name', 'none.txt', MissingError, 'names no asset'],
  ['a part of a name', 'a', MissingError, 'names no asset'],
  ['an unknown guid', '0190f2a0-0000-7000-8000-000000000000', MissingError, 'names no asset'],
])('refuses %s, and deletes none', async (_what, file, kind, message) => {
  await expect(remove(file)).rejects.toMatchObject({
    ...{ constructor: kind, pin: 'file', message: expect.stringContaining(message) },
  })
  expect([await left(), await fixture.onDisk()]).toEqual([[older, newer], 2])
})

test.each([
  ['its guid', () => older, () => [newer]],
  ['its name, the newest of that name', () => 'a.txt', () => [older]],
  ['the value of a field', () => ({ guid: older, name: 'another name' }), () => [newer]],
])('deletes a file by %s, with its bytes', async (_what, file, rest) => {
  expect((await remove(file())).next).toBe('flow')
  expect([await left(), await fixture.onDisk()]).toEqual([rest(), 1])
})

test('gives the file that was deleted', async () => {
  expect((await remove(newer)).outputs).toEqual({
    file: { guid: newer, name: 'a.txt', type: 'text/plain', size: 5 },
  })
})

test('the second time there is none', async () => {
  await remove(newer)
  await expect(remove(newer)).rejects.toMatchObject({ constructor: MissingError })
  expect(await left()).toEqual([older])
})

test('the bytes stay while another file has the same', async () => {
  const twin = await fixture.put('b.txt', 'old')
  await remove(older)
  expect([await left(), String(await fixture.content('b.txt'))]).toEqual([[newer, twin], 'old'])
})
