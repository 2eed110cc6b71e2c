/** Folders of applications come from anyone: a link in one leads nowhere, neither when it is read nor when it is written. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { applicationOf } from '../shared/application/application-files.ts'
import { readFolder, testFiles, writeFiles, writeFolder } from './read-folder.ts'

let root: string
let folder: string
let outside: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  folder = join(root, 'application')
  outside = join(root, 'outside')
  await mkdir(folder)
  await mkdir(outside)
  await writeFile(join(outside, 'a.json'), 'precious')
})
afterEach(() => rm(root, { recursive: true, force: true }))

const precious = async () => [await readdir(outside), await readFile(join(outside, 'a.json'), 'utf8')]
const untouched = [['a.json'], 'precious']

test.each<[string, string, string]>([
  ['a file', 'quoin.json', 'outside/a.json'],
  ['a file in a folder', 'blueprints/a.json', 'outside/a.json'],
  ['a folder', 'blueprints', 'outside'],
])('%s that is a link is not read', async (_what, link, to) => {
  await mkdir(join(folder, link, '..'), { recursive: true })
  await symlink(join(root, to), join(folder, link))
  await expect(readFolder(folder)).rejects.toThrow(/is a link/)
})

test.each<[string, string, string]>([
  ['a folder', 'blueprints', 'blueprints/a.json'],
  ['a folder beside the application', '.quoin', '.quoin/studio/blueprints/a.json'],
  ['a folder within that', '.quoin/studio', '.quoin/studio/a.json'],
])('nothing is written or removed through %s that is a link', async (_what, link, path) => {
  await mkdir(join(folder, link, '..'), { recursive: true })
  await symlink(outside, join(folder, link))
  for (const text of ['written', undefined])
    await expect(writeFiles(folder, new Map([[path, text]]))).rejects.toThrow(/is no folder/)
  expect(await precious()).toEqual(untouched)
})

test.each(['.a.json.part', 'blueprints/a.json'])(
  'a file is written beside what %s leads to',
  async (link) => {
    await mkdir(join(folder, 'blueprints'))
    await symlink(join(outside, 'a.json'), join(folder, link))
    await writeFiles(folder, new Map([['blueprints/a.json', '{}']]))
    expect(await readFile(join(folder, 'blueprints/a.json'), 'utf8')).toBe('{}')
    expect(await precious()).toEqual(untouched)
  },
)

test('what is no link is written whole, and removed', async () => {
  const files = new Map([
    ['quoin.json', '{}'],
    ['blueprints/a.json', '{"a":1}'],
  ])
  expect(await writeFolder(folder, files)).toEqual(['blueprints/a.json', 'quoin.json'])
  expect(await readFolder(folder)).toEqual(files)
  expect(await writeFolder(folder, new Map([['quoin.json', '{}']]))).toEqual(['blueprints/a.json'])
  // Where its folder is gone too there is nothing to remove.
  await writeFiles(folder, new Map([['seed/a.ndjson', undefined]]))
  expect(await readdir(folder)).toEqual(['blueprints', 'quoin.json'])
})

test('a pull leaves cases of an evaluation that are too long for a push, and no others', async () => {
  const folder = join(root, 'cases')
  await mkdir(folder)
  const long = `${'{}\n'.repeat(400_000)}`
  for (const [name, text] of [
    ['long', long],
    ['short', '{}'],
  ] as const)
    await writeFiles(folder, new Map([[`tests/${name}.ndjson`, text]]))
  expect(applicationOf(await readFolder(folder)).application.tests).toEqual({ short: { ndjson: '{}' } })
  expect(await writeFolder(folder, new Map())).toEqual(['tests/short.ndjson'])
  expect((await readFolder(folder)).get('tests/long.ndjson')).toBe(long)
})

test('tests that found no room do not stop the next, and what ended nodes left is removed', async () => {
  const run = () => testFiles(new Map([['tests/a.test.json', '{}']]), new Map(), AbortSignal.abort())
  try {
    vi.stubEnv('TMPDIR', join(root, 'missing'))
    await expect(run()).rejects.toThrow('ENOENT')
    vi.stubEnv('TMPDIR', outside)
    for (const name of ['quoin-tests-of-files-old', 'quoin-tests-of-files-new', 'other-old'])
      await mkdir(join(outside, name, 'tests'), { recursive: true })
    for (const name of ['quoin-tests-of-files-old', 'other-old']) await utimes(join(outside, name), 0, 0)
    await expect(run()).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(await readdir(outside)).toEqual(['a.json', 'other-old', 'quoin-tests-of-files-new'])
  } finally {
    vi.unstubAllEnvs()
  }
})
