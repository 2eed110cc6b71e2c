import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failure } from '../../../../test/conformance/expectations.ts'
import { openSqliteParts } from './sqlite-parts.ts'

let parent: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})

afterEach(() => rm(parent, { recursive: true }))

const open = (directory: string) =>
  openSqliteParts({ directory, clock: () => 0, random: () => undefined, entity: 1 })
const mode = async (...path: string[]) => ((await stat(join(parent, ...path))).mode & 0o777).toString(8)

test('what it makes is for its owner only, also in a folder that is open to others', async () => {
  await chmod(parent, 0o755)
  const nested = await open(join(parent, 'a', 'b'))
  const beside = await open(parent)
  expect([await mode('a'), await mode('a', 'b')]).toEqual(['700', '700'])
  for (const file of ['quoin.db', 'quoin.db-wal', 'quoin.lock'])
    expect([file, await mode(file)]).toEqual([file, '600'])
  await nested.close()
  await beside.close()
})

test('one directory is one storage, also within a process, until it is closed', async () => {
  const first = await open(parent)
  const error = await failure('UNAVAILABLE', () => open(parent))
  expect(error.message).toContain(`The directory ${parent} is in use by another Quoin process`)
  await first.close()
  await (await open(parent)).close()
})

test('a log that is still to be written back is read; a directory that failed to open is not kept locked', async () => {
  const first = await open(parent)
  first.writer.connection.exec("UPDATE migration SET checksum = 'other'")
  await first.close()
  await failure('UNAVAILABLE', () => open(parent))
  const error = await failure('UNAVAILABLE', () => open(parent))
  expect(error.message).toContain('0001-catalogue.sql')
})

test('writes wait for the disk, and readers cannot write', async () => {
  const parts = await open(parent)
  const setting = (name: string) => Object.values(parts.writer.connection.get(`PRAGMA ${name}`) ?? {})[0]
  expect([setting('journal_mode'), setting('synchronous'), setting('busy_timeout')]).toEqual(['wal', 2, 5000])
  expect(() => parts.reader.exec('DELETE FROM storage')).toThrow('readonly')
  await parts.close()
})
