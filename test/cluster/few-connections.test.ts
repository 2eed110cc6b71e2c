/** A node with the fewest connections starts for the first time: its push of the first example takes locks within locks. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminPassword, type RunningProcess, startProcess } from '../end-to-end/harness.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { callNode } from './call-node.ts'

let temporary: TemporaryDatabase
let directory: string
let node: RunningProcess | undefined
beforeEach(async () => {
  temporary = await openTemporaryDatabase()
  directory = await mkdtemp(join(tmpdir(), 'quoin-connections-'))
})
afterEach(async () => {
  await node?.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
  await temporary.drop()
})

test('two connections are enough for a first start, and its example answers', async () => {
  const settings = { QUOIN_ADMIN_PASSWORD: adminPassword, QUOIN_EXAMPLES: '1', QUOIN_POOL: '2' }
  node = await startProcess(directory, { ...settings, DATABASE_URL: temporary.url })
  expect((await callNode(node.address, '/tasks')).status).toBe(200)
}, 60_000)
