/** Set-ups of one checkout at once, with scripts in place of npm and of the builders that write down when they ran. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const copied = ['scripts/setup.mjs', 'scripts/setup-lock.mjs', 'bin/supported-node.mjs']

let checkout: string
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  for (const folder of ['scripts', 'bin', 'node_modules']) await mkdir(join(checkout, folder))
  for (const file of copied) await copyFile(join(root, file), join(checkout, file))
  for (const file of ['package.json', 'package-lock.json']) await writeFile(join(checkout, file), '{}')
  await writeFile(join(checkout, 'npm.js'), recording('install', 100))
  await writeFile(join(checkout, 'scripts', 'build-studio.mjs'), recording('build', 100))
  await writeFile(join(checkout, 'scripts', 'build-program.mjs'), '')
})
afterEach(() => rm(checkout, { recursive: true }))

/** A script that takes some time. */
function recording(name: string, milliseconds: number): string {
  return `const { appendFileSync } = process.getBuiltinModule('node:fs')
    appendFileSync('ran', '${name} begins\\n')
    setTimeout(() => appendFileSync('ran', '${name} ends\\n'), ${milliseconds})`
}

async function setUp(purpose: string): Promise<string> {
  const words = ['scripts/setup.mjs', purpose]
  return (await promisify(execFile)(process.execPath, words, options())).stdout
}

const options = () => ({ cwd: checkout, env: { npm_execpath: join(checkout, 'npm.js') } })

async function lockFor(pid: number): Promise<void> {
  const lock = join(checkout, 'dist', 'setup.lock')
  await mkdir(lock, { recursive: true })
  await writeFile(join(lock, String(pid)), '')
}

/** A process id that was one, and of which no process is left. */
async function endedProcess(): Promise<number> {
  const ended = promisify(execFile)(process.execPath, ['--eval', ''])
  await ended
  return ended.child.pid ?? Number.NaN
}

const ran = async () => (await readFile(join(checkout, 'ran'), 'utf8')).trimEnd().split('\n')
const installed = ['install begins', 'install ends']
const built = ['build begins', 'build ends']

test('of two set-ups at once the second installs nothing again and builds after the first', async () => {
  await Promise.all([setUp('test'), setUp('test')])
  expect(await ran()).toEqual([...installed, ...built, ...built])
})

test('a set-up waits for the one that runs, and says so in one line', async () => {
  await lockFor(process.pid)
  const waits = promisify(execFile)(process.execPath, ['scripts/setup.mjs', 'check'], options())
  await new Promise((resolve) => waits.child.stdout?.once('data', resolve))
  await rm(join(checkout, 'dist', 'setup.lock'), { recursive: true })
  const waiting = `Waiting for another set-up of this checkout (process ${process.pid}) …\n`
  const installing = 'Installing what Quoin needs (to run and to test), once …\n'
  expect((await waits).stdout).toBe(waiting + installing)
  expect(await ran()).toEqual(installed)
})

test('a set-up of what is there asks no registry, and a lock whose holder was killed is taken over', async () => {
  await setUp('test')
  await rm(join(checkout, 'ran'))
  await lockFor(await endedProcess())
  expect(await setUp('test')).toBe('')
  expect(await ran()).toEqual(built)
})

test('of many that find a lock whose holder was killed, one has it at a time', async () => {
  await lockFor(await endedProcess())
  await writeFile(
    join(checkout, 'scripts', 'held.mjs'),
    `import { takeSetupLock } from './setup-lock.mjs'
    await takeSetupLock('dist')
    ${recording('turn', 20)}`,
  )
  const run = () => promisify(execFile)(process.execPath, ['scripts/held.mjs'], { cwd: checkout })
  await Promise.all(Array.from({ length: 8 }, run))
  expect(await ran()).toEqual(Array.from({ length: 8 }, () => ['turn begins', 'turn ends']).flat())
})

test('a Node of node_modules that does not start is said, and nothing is built', async () => {
  const pinned = join(checkout, 'node_modules', '.bin')
  await mkdir(pinned)
  await writeFile(join(pinned, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  await expect(setUp('start')).rejects.toMatchObject({
    code: 1,
    stderr: 'The Node of node_modules does not start. Remove node_modules and try again.\n',
  })
  expect(await ran()).toEqual(installed)
})
