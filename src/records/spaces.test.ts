import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { openSpaceDirectory, type SpaceDirectory } from './spaces.ts'

let fixture: TestDatabase
let directory: SpaceDirectory
const by = { guid: '', username: 'operator' }
beforeAll(async () => {
  fixture = await openTestDatabase()
  directory = await openSpaceDirectory(fixture.database, (host) => host === 'quoin.test')
})
afterAll(async () => {
  directory.close()
  await fixture.close()
})

const made = async (name: string, hosts = [`${name}.test`]) =>
  guidOf(await directory.create({ name, hosts }, 'a', by))
const present = (guid: string) => directory.present().ofGuid.get(guid)

test('a host belongs to one space, and what is refused leaves the others as they are', async () => {
  const red = await made('red', ['red.test', 'rouge.test'])
  await expect(made('blue', ['blue.test', 'rouge.test'])).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(made('blue', ['quoin.test'])).rejects.toMatchObject({ code: 'INVALID_BODY' })
  const blue = await made('blue')
  await expect(directory.update(blue, { hosts: ['red.test'] }, by)).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  await directory.update(red, { hosts: ['red.test'] }, by)
  await directory.update(blue, { hosts: ['rouge.test', 'blue.test'] }, by)
  const names = [...directory.present().ofHost].map(([host, { name }]) => `${host} ${name}`)
  expect(names.toSorted()).toEqual(['blue.test blue', 'red.test red', 'rouge.test blue'])
})

test('of two that are made at once with one host, one is made', async () => {
  const ends = await Promise.allSettled([made('one', ['same.test']), made('two', ['same.test'])])
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('a space is due when the last node has closed it, and at once when that node was lost', async () => {
  const guid = await made('nodes')
  await directory.noteOpened(guid, 'a')
  await directory.noteOpened(guid, 'b')
  expect(present(guid)).toMatchObject({ nodes: ['a', 'b'], wakesAt: 0 })
  await directory.noteClosed(guid, 'a', 500)
  expect(present(guid)).toMatchObject({ nodes: ['b'], wakesAt: 0 })
  await directory.forgetNodes((node) => node !== 'b')
  expect(present(guid)).toMatchObject({ nodes: [], wakesAt: 0 })
  await directory.noteOpened(guid, 'c')
  await directory.noteClosed(guid, 'c', 700)
  expect(present(guid)).toMatchObject({ nodes: [], wakesAt: 700 })
})

test('what is being removed does not come back', async () => {
  const guid = await made('gone')
  await directory.update(guid, { state: 'removing' }, by)
  await expect(directory.update(guid, { state: 'active' }, by)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(present(guid)?.state).toBe('removing')
  await directory.remove(guid, by)
  expect([present(guid), directory.present().ofHost.get('gone.test')]).toEqual([undefined, undefined])
})

test('there are no more previews than may be, also where two are made at once', async () => {
  const preview = { application: 'notes', until: 1, outside: false, by }
  const make = (name: string) => directory.create({ name, hosts: [], preview }, 'a', by)
  for (let number = 1; number < 20; number++) await make(`~${number}`)
  const ends = await Promise.allSettled([make('~one'), make('~two')])
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(directory.present().ofPath.size).toBe(20)
  await expect(made('plain')).resolves.not.toBe('')
})
