/**
 * A node that was killed is back before its lease has ended. A start on a database that has everything announces nothing,
 * so it waits for no node; and the dead one goes from the cluster, so that what is announced later (a sign-in, a deploy)
 * does not wait for the rest of its lease.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../end-to-end/harness.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { callNode } from './call-node.ts'
import { installOver } from './install-over.ts'
import { notesBlueprint, schedulesBlueprint, switchBlueprint } from './storm-blueprints.ts'

let temporary: TemporaryDatabase
let directory: string
let admin: Client
let node: RunningProcess | undefined

const start = () =>
  startProcess(join(directory, 'a'), {
    QUOIN_NODE: 'a',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    DATABASE_URL: temporary.url,
  })

beforeEach(async () => {
  temporary = await openTemporaryDatabase(quoinTemplate)
  directory = await mkdtemp(join(tmpdir(), 'quoin-restart-'))
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterEach(async () => {
  await node?.end('SIGKILL')
  await admin.end()
  await rm(directory, { recursive: true, force: true })
  await temporary.drop()
})

async function signIn(address: string): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  const reply = await callNode(address, '/auth/signin', { method: 'POST', body })
  return String(objectOf(reply.body).access_token)
}

/** The nodes that one more announcement would wait for. */
async function live(): Promise<number> {
  const { rows } = await admin.query('SELECT count(*)::int AS live FROM node WHERE lease_until > now()')
  return rows[0].live
}

/** What was announced, in order: the documents by storage. Without what jobs that go on have written, told later to viewers. */
async function announced(): Promise<readonly JsonValue[]> {
  const { rows } = await admin.query('SELECT documents FROM change ORDER BY number')
  return rows.map((row) => row.documents).filter((documents) => !Object.hasOwn(documents, 'page changes'))
}

test('a start after kill -9, with blueprints, schedules and jobs under way', async () => {
  node = await start()
  const token = await signIn(node.address)
  for (const blueprint of [notesBlueprint, schedulesBlueprint(3), switchBlueprint])
    await installOver(node.address, token, blueprint)
  const note = await callNode(node.address, '/notes', { method: 'POST', body: { text: 'one' } })
  expect(note.status).toBe(201)
  await node.end('SIGKILL')
  const before = await announced()
  // The dead one: otherwise there would be no node to wait for, and this would show nothing.
  expect(await live()).toBe(1)
  node = await start()
  expect(await announced()).toEqual(before)
  expect(await live()).toBe(1)
  expect((await callNode(node.address, '/switch')).status).toBe(200)
  expect(await signIn(node.address)).not.toBe(token)
}, 60_000)
