import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { awaitReaders, holdReadersLock } from './readers-lock.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

test('where no reader ever ran, a writer does not wait and leaves no file', async () => {
  awaitReaders(directory)
  await expect(stat(join(directory, 'quoin.lock.readers'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a writer is refused while a reader of another one lives, and begins when it is gone', async () => {
  const first = holdReadersLock(directory)
  const second = holdReadersLock(directory)
  expect((await stat(join(directory, 'quoin.lock.readers'))).mode & 0o777).toBe(0o600)
  first()
  expect(() => awaitReaders(directory, 50)).toThrow('still read by processes')
  second()
  awaitReaders(directory, 50)
  const third = holdReadersLock(directory)
  third()
})

test('a writer waits for readers that are about to go', async () => {
  const release = holdReadersLock(directory)
  // Waiting stops this thread, so another one begins to wait.
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.lock).then(({ awaitReaders }) => {
      parentPort.postMessage('waiting')
      awaitReaders(workerData.directory)
      parentPort.postMessage('begun')
    })`
  const lock = new URL('./readers-lock.ts', import.meta.url).href
  const worker = new Worker(source, { eval: true, workerData: { directory, lock } })
  const said: string[] = []
  const begun = new Promise<void>((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', (word: string) => {
      said.push(word)
      if (word === 'waiting') release()
      else resolve()
    })
  })
  await begun
  expect(said).toEqual(['waiting', 'begun'])
  await worker.terminate()
})
