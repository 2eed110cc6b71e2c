/**
 * The process is killed while a push waits for a second user, and while it is approved: the push is neither lost nor doubled, the old
 * release serves until the approval, and one approval more makes it live, on each node.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Call, callNode } from '../cluster/call-node.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import {
  adminPassword,
  objectOf,
  objectsOf,
  type RunningProcess,
  startProcess,
  userPassword,
} from './harness.ts'

/** Parts of the time that an approval takes. */
const MOMENTS = [0.4, 0.8]

let temporary: TemporaryDatabase | undefined
let directory: string
let node: RunningProcess
/** Where there can be two. */
let other: RunningProcess | undefined
let author: string
let approver: string

const start = (name: string) =>
  startProcess(join(directory, name), {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_RATE_LIMIT: '0',
    QUOIN_EXAMPLES: '0',
    ...(temporary && { DATABASE_URL: temporary.url, QUOIN_NODE: name }),
  })
const call = (
  method: NonNullable<Call['method']>,
  path: string,
  body?: JsonValue,
  token = author,
  at = node,
) => callNode(at.address, path, { method, token, ...(body !== undefined && { body }) })

async function signIn(username: string, password: string): Promise<string> {
  const body = { username, password }
  const reply = await callNode(node.address, '/auth/signin', { method: 'POST', body })
  return String(objectOf(reply.body).access_token)
}

beforeAll(async () => {
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  directory = await mkdtemp(join(tmpdir(), 'quoin-approved-'))
  node = await start('a')
  if (temporary) other = await start('b')
  author = await signIn('admin', adminPassword)
  const scopes = ['applications_view', 'applications_approve']
  await call('POST', '/users', { username: 'ben', password: userPassword, custom_scopes: scopes })
  approver = await signIn('ben', userPassword)
  const value = { value: 'approved' }
  expect((await call('PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', value)).status).toBe(200)
}, 120_000)
afterAll(async () => {
  await node?.end('SIGKILL')
  await other?.end('SIGKILL')
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

const application = (reply: string): JsonObject => ({
  about: { name: 'approved', version: reply },
  blueprints: {
    one: {
      name: 'Approved',
      blocks: {
        on: { type: 'on_startup_register_uri_get', in: { uri: 'approved' }, scopes: ['*public'] },
        reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: reply } },
      },
    },
  },
  ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
})

interface Sent {
  readonly guid: string
  readonly state: string
  readonly again: () => Promise<JsonObject>
}

/** Waits for the second user. */
async function push(reply: string): Promise<Sent> {
  const planned = await call('POST', '/_system/applications/plan', { application: application(reply) })
  const state = String(objectOf(planned.body).state)
  const again = async () => {
    const body = { application: application(reply), state }
    const sent = await call('POST', '/_system/applications/push', body)
    expect(sent.status).toBe(202)
    return objectOf(objectOf(sent.body).waiting)
  }
  return { guid: String((await again()).guid), state, again }
}

const approve = ({ guid, state }: Sent, at = node) =>
  call('POST', `/_system/pushes/${guid}/approve`, { state }, approver, at)
const statuses = async () =>
  objectsOf((await call('GET', '/_system/pushes')).body ?? []).map((one) => [one.guid, one.status])
const releases = async () => {
  const { body } = await call('GET', '/_system/applications/approved/releases')
  return objectsOf(body ?? []).map(({ number, version }) => [number, version])
}
const said = async (at = node) => {
  const { status, body } = await call('GET', '/approved', undefined, author, at)
  return status === 200 ? body : status
}

async function killed(): Promise<void> {
  await node.end('SIGKILL')
  node = await start('a')
}

/** Milliseconds. */
let took = 0

test('a push that waits is there after the kill, once, and the old release serves until it is approved', async () => {
  const first = await push('one')
  await killed()
  expect([await said(), await statuses()]).toEqual([404, [[first.guid, 'waiting']]])
  expect((await first.again()).guid).toBe(first.guid)
  expect(await statuses()).toHaveLength(1)
  const from = performance.now()
  expect((await approve(first, other)).status).toBe(200)
  took = performance.now() - from
  for (const at of [node, other]) if (at) expect(await said(at)).toBe('one')
  expect([await statuses(), await releases()]).toEqual([[[first.guid, 'released']], [[1, 'one']]])
}, 120_000)

test('a node that is killed while it approves leaves the old release or the new one, and one approval more ends it', async () => {
  let [before, number] = ['one', 1]
  for (const moment of MOMENTS) {
    const next = `${before} more`
    const sent = await push(next)
    const approving = approve(sent)
    await wait(took * moment)
    await killed()
    await approving
    expect([before, next]).toContain(await said())
    expect((await approve(sent)).status).toBe(200)
    for (const at of [node, other]) if (at) expect(await said(at)).toBe(next)
    number += 1
    expect([(await statuses())[0], (await releases())[0]]).toEqual([
      [sent.guid, 'released'],
      [number, next],
    ])
    before = next
  }
  expect(await releases()).toHaveLength(number)
}, 240_000)
