import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AssetFiles, openAssetFiles } from './asset-files.ts'

let directory: string
let files: AssetFiles
let names = 0
const open = () => openAssetFiles(directory, () => `part-${names++}`)

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  files = await open()
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function onDisk(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
}

const source = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

it('keeps a file under its hash, once, and reads all or a part of it', async () => {
  const sha256 = hashOf('hello world')
  for (let turn = 0; turn < 2; turn++) {
    const received = await files.receive(source('hello', ' world'))
    expect(received).toMatchObject({ size: 11, sha256, head: Buffer.from('hello world') })
    await files.keep(received)
  }
  expect(await onDisk()).toEqual([join(sha256.slice(0, 2), sha256.slice(2, 4), sha256)])
  expect((await buffer(files.read(sha256))).toString()).toBe('hello world')
  expect((await buffer(files.read(sha256, { start: 6, end: 8 }))).toString()).toBe('wor')
  await files.delete(sha256)
  await files.delete(sha256)
  expect(await onDisk()).toEqual([])
})

it('knows the beginning of a long file, and an empty one', async () => {
  const long = 'x'.repeat(3_000)
  const received = await files.receive(source(long, long, long))
  expect([received.size, received.head.length]).toEqual([9_000, 4_100])
  await files.discard(received)
  const empty = await files.receive(source())
  expect(empty).toMatchObject({ size: 0, sha256: hashOf('') })
  await files.discard(empty)
  expect(await onDisk()).toEqual([])
})

it('leaves nothing of a stream that fails', async () => {
  async function* broken() {
    yield Buffer.from('some')
    expect(await onDisk()).toHaveLength(1)
    throw new Error('cut')
  }
  await expect(files.receive(broken())).rejects.toThrow('cut')
  expect(await onDisk()).toEqual([])
})

it('clears what was being received when the node died, and nothing else', async () => {
  const received = await files.receive(source('kept'))
  await files.keep(received)
  await files.receive(source('half'))
  await writeFile(join(directory, 'incoming', 'other'), 'x')
  expect(await onDisk()).toHaveLength(3)
  await open()
  expect(await onDisk()).toHaveLength(1)
})

it('takes nothing but a hash for a place', async () => {
  await mkdir(join(directory, 'aa'), { recursive: true })
  for (const name of ['../../etc/passwd', '', hashOf('x').toUpperCase(), `${hashOf('x')}/..`]) {
    expect(() => files.read(name)).toThrow(TypeError)
    expect(() => files.delete(name)).toThrow(TypeError)
  }
})
