import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** In a process that may have few files open, and has as many: stores a file, and reads one. Prints what came of it. */
const crowded = `
import { openSync, closeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { openAssetFiles } from ${JSON.stringify(join(import.meta.dirname, 'asset-files.ts'))}
const files = await openAssetFiles(process.argv[1], () => 'part')
const source = () => Readable.from([Buffer.from('x')])
const place = await files.keep(await files.receive(source()))
const open = []
try { for (;;) open.push(openSync('/dev/null')) } catch {}
const reported = ({ code, message }) => code + ': ' + message
const stored = await files.receive(source()).catch(reported)
const read = await new Promise((done) => files.read(place).on('error', (error) => done(reported(error))).resume())
for (const file of open) closeSync(file)
const again = await files.receive(source())
console.log(JSON.stringify([stored, read, again.size]))
`

it('says that it is unavailable while the process has too many files open, and stores again after that', async () => {
  const limited = 'ulimit -n 64; exec "$0" --input-type=module-typescript -e "$1" "$2"'
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    limited,
    process.execPath,
    crowded,
    directory,
  ])
  const message =
    'UNAVAILABLE: The node has too many files and connections open; the file was not opened. Try again.'
  expect(JSON.parse(stdout)).toEqual([message, message, 1])
})
