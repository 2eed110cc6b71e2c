/** A run that is interrupted leaves nothing: no process, no mounted file system, no file. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mountsIn, openRunFolder, processesNaming } from './run-folder.ts'

let fixture: string
beforeEach(() => {
  fixture = mkdtempSync(join(tmpdir(), 'quoin-stop-'))
})
afterEach(() => rmSync(fixture, { recursive: true, force: true }))

const left = () => ({
  processes: processesNaming(fixture),
  mounts: mountsIn(fixture),
  files: readdirSync(fixture),
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the servers of a part', async (signal) => {
  // Mounts a file system where it may; else it is skipped, and the next part starts a server.
  const words = [join(import.meta.dirname, 'torture.ts'), '--only=full-disk,kill', '--seconds=60', '--seed=1']
  const child = spawn(process.execPath, words, { env: { ...process.env, TMPDIR: fixture }, stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    // Itself and a server.
    while (processesNaming(fixture).length < 2 && child.exitCode === null) await wait(20)
    child.kill(signal)
    await ended
    expect(child.exitCode).toBe(1)
    expect(left()).toEqual({ processes: [], mounts: [], files: [] })
  } finally {
    child.kill('SIGKILL')
  }
})

test('what does not end when it is asked to is ended', async () => {
  const folder = openRunFolder(() => undefined)
  const deaf = `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); console.log('ready')`
  const child = spawn(process.execPath, ['-e', deaf], {
    env: { PATH: process.env.PATH, DATA: folder.path },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  expect(await folder.clear()).toBe(1)
  await ended
  expect(child.signalCode).toBe('SIGKILL')
})
