import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { JsonObject } from '../../shared/json.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import listFiles from './list_files.ts'

let fixture: FileFixture
let first: string
let removed: string

beforeAll(async () => {
  fixture = await openFileFixture()
  first = await fixture.put('a.txt', '1', 'reports')
  await fixture.put('b.txt', '22', 'reports')
  await fixture.put('a.txt', '333', 'reports/2026')
  await fixture.put('a.txt', '4444', 'reports')
  removed = await fixture.put('a.txt', '55555', 'reports')
  const session = fixture.database.session()
  await session.setRemoved(systemStorages.assets, removed, true)
  await session.transaction.commit()
})
afterAll(() => fixture.close())

const list = async (inputs: JsonObject): Promise<readonly JsonObject[]> => {
  const { outputs, next } = await fixture.run(listFiles, { inputs })
  expect(next).toBe('flow')
  expect(outputs.files).toBeInstanceOf(Array)
  return Array.isArray(outputs.files) ? outputs.files : []
}
const sizes = async (inputs: JsonObject) => (await list(inputs)).map(({ size }) => size)

test.each([
  ['a negative limit', { limit: -1 }, 'limit', 'from 0'],
  ['more than 1,000 files', { limit: 1_001 }, 'limit', '1,000'],
  ['half a file', { limit: 1.5 }, 'limit', 'whole'],
  ['a negative offset', { offset: -1 }, 'offset', 'from 0'],
  ['an offset above 10,000', { offset: 10_001 }, 'offset', '10,000'],
  ['a list of directories', { directory: ['reports'] }, 'directory', 'must be text'],
])('refuses %s', async (_what, inputs, pin, message) => {
  await expect(fixture.run(listFiles, { inputs })).rejects.toMatchObject({
    ...{ name: 'PinError', pin, message: expect.stringContaining(message) },
  })
})

test.each<[string, JsonObject, readonly number[]]>([
  ['all, newest first, without removed ones', {}, [4, 3, 2, 1]],
  ['all for empty pins', { directory: ' ', name: '' }, [4, 3, 2, 1]],
  ['those of a directory, without those in it', { directory: ' reports ' }, [4, 2, 1]],
  ['those of a directory in a directory', { directory: 'reports/2026' }, [3]],
  ['those of a name in all directories', { name: 'a.txt' }, [4, 3, 1]],
  ['those of both', { directory: 'reports', name: 'a.txt' }, [4, 1]],
  ['none of a part of a directory', { directory: 'report' }, []],
  ['none of a part of a name', { name: 'a' }, []],
  ['none of a pattern', { name: '*' }, []],
  ['the first ones', { limit: 2 }, [4, 3]],
  ['none for the limit 0', { limit: 0 }, []],
  ['those after the first ones', { offset: 1, limit: 2 }, [3, 2]],
  ['none after the last one', { offset: 4 }, []],
])('lists %s', async (_what, inputs, expected) => {
  expect(await sizes(inputs)).toEqual(expected)
})

test('gives what fields of the type file hold, and nothing more of the record', async () => {
  expect((await list({ directory: 'reports' })).at(-1)).toEqual({
    ...{ guid: first, name: 'a.txt', type: 'text/plain', size: 1 },
  })
})

test('lists 100 files when no limit is given', async () => {
  for (let n = 0; n < 101; n++) await fixture.put(`${n}.txt`, 'same', 'many')
  expect(await sizes({ directory: 'many' })).toHaveLength(100)
  expect(await sizes({ directory: 'many', limit: 1_000 })).toHaveLength(101)
})
