import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { processesNaming } from '../torture/run-folder.ts'
import { openExampleFixture } from './example-fixture.ts'

afterAll(() => vi.unstubAllEnvs())

test('an example that cannot be installed leaves no server and no folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-rooms-'))
  vi.stubEnv('TMPDIR', folder)
  await expect(openExampleFixture('of-none', { values: {}, settings: {} })).rejects.toThrow('ENOENT')
  expect(processesNaming(folder)).toEqual([])
  expect(await readdir(folder)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})
