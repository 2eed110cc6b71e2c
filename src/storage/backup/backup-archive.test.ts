import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backupArchive, tarHeader } from './backup-archive.ts'

const run = promisify(execFile)
let fixture: string
let folder: string
const long = `${'long-folder-'.repeat(6)}/${'long-name-'.repeat(6)}`
beforeAll(async () => {
  fixture = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  folder = join(fixture, 'backup')
  await mkdir(join(folder, 'assets', 'ab', long.split('/')[0] ?? ''), { recursive: true })
  await writeFile(join(folder, 'quoin.db'), Buffer.alloc(700_001, 7))
  await writeFile(join(folder, 'manifest.json'), '{}')
  await writeFile(join(folder, 'summary.json'), '{"a":1}')
  await writeFile(join(folder, 'check.json'), 'not sent')
  await writeFile(join(folder, 'assets', 'ab', 'empty'), '')
  await writeFile(join(folder, 'assets', 'ab', 'block'), 'x'.repeat(512))
  await writeFile(join(folder, 'assets', 'ab', long), 'deep')
  await writeFile(join(fixture, 'secret'), 'outside')
  await symlink(join(fixture, 'secret'), join(folder, 'assets', 'ab', 'link'))
  await symlink(fixture, join(folder, 'assets', 'out'))
})
afterAll(() => rm(fixture, { recursive: true, force: true }))

const archive = () => Readable.from(backupArchive(folder, 'copy', 1_700_000_000), { objectMode: false })

test('tar unpacks it: the same files, and nothing from outside', async () => {
  const file = join(fixture, 'copy.tar')
  await pipeline(archive(), createWriteStream(file))
  const target = join(fixture, 'unpacked')
  await mkdir(target)
  await run('tar', ['-xf', file, '-C', target])
  const names = await readdir(join(target, 'copy'), { recursive: true, withFileTypes: true })
  expect(
    names
      .filter((one) => one.isFile())
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['block', 'empty', 'manifest.json', 'quoin.db', 'summary.json', long.split('/')[1]].sort())
  for (const path of ['quoin.db', 'assets/ab/block', 'assets/ab/empty', `assets/ab/${long}`])
    expect(await readFile(join(target, 'copy', path))).toEqual(await readFile(join(folder, path)))
})

test('one that is cut in the middle leaves no file of the backup open', async () => {
  const open = async () => {
    const links = (await readdir('/proc/self/fd').catch(() => [])).map((fd) =>
      readlink(join('/proc/self/fd', fd)).catch(() => ''),
    )
    return (await Promise.all(links)).filter((path) => path.startsWith(folder))
  }
  const [first, second] = [archive(), archive()]
  for await (const _chunk of first) {
    expect(await open()).toEqual([join(folder, 'quoin.db')])
    break
  }
  second.destroy()
  await expect.poll(open).toEqual([])
})

test.each([
  [8 ** 11 - 1, 8 ** 11 - 1],
  [8 ** 11, undefined],
])('a size of %d fits', (size, octal) => {
  const header = tarHeader('a', size, 0)
  if (octal !== undefined) expect(Number.parseInt(header.toString('latin1', 124, 135), 8)).toBe(octal)
  else expect([header[124], header.readBigUInt64BE(128)]).toEqual([0x80, BigInt(size)])
})

test('a name that is too long is refused', () => {
  expect(() => tarHeader('x'.repeat(101), 1, 0)).toThrow('too long')
})
