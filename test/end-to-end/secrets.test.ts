/**
 * Nothing secret is found by a search for it: in the files of the database, in the rows of PostgreSQL, in what the process
 * prints, in logs, traces, exports, the API document and replies. Nodes are processes, as users start them.
 */
import { createHmac } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { installOver } from '../cluster/install-over.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, guidOf, objectsOf, type RunningProcess, startProcess } from './harness.ts'

const key = Buffer.alloc(32, 3).toString('base64')
/** Unlike anything else in a dump. */
const values = ['first-Zx81-quartz-sphinx', 'second-Qv77-amber-dwarf']
const forms = (text: string) => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('hex'),
]
const requested = [...values, key].flatMap(forms)
const found = (text: string) => requested.filter((one) => text.includes(one))

let directory: string
let temporary: TemporaryDatabase | undefined
let node: RunningProcess
let token = ''
let blueprint = ''

interface Got {
  readonly status: number
  readonly text: string
}

async function call(
  method: string,
  path: string,
  body?: JsonValue,
  headers: Record<string, string> = {},
): Promise<Got> {
  const reply = await fetch(`${node.address}/api/v1${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: reply.status, text: await reply.text() }
}
const json = async (method: string, path: string, body?: JsonValue) => {
  const got = await call(method, path, body)
  if (got.status >= 300) throw new Error(`${method} ${path}: ${got.status} ${got.text}`)
  return JSON.parse(got.text)
}

const blocks = {
  take: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
  check: {
    type: 'check_signature',
    in: { flow: '@take.flow', secret: 'FIRST', former_secret: 'SECOND' },
    fields: { sender: 'github' },
  },
  log: { type: 'function_console_log', in: { flow: '@check.valid', value: '={ headers, body, env }' } },
  reply: { type: 'reply', in: { flow: '@log.flow', value: '=body' } },
  failed: { type: 'function_console_log', in: { flow: '@check.invalid', value: '@check.reason' } },
  wrong: { type: 'fail', in: { flow: '@failed.flow', status: 401, message: '=check.reason' } },
  broken: { type: 'on_startup_register_uri_post', in: { uri: 'broken' }, scopes: ['*public'] },
  unset: {
    type: 'check_signature',
    in: { flow: '@broken.flow', secret: 'NONE' },
    fields: { sender: 'github' },
  },
  never: { type: 'reply', in: { flow: '@unset.valid', value: '=1' } },
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  node = await startProcess(directory, {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    QUOIN_LOG_LEVEL: 'trace',
    QUOIN_SECRETS_KEY: key,
    ...(temporary && { DATABASE_URL: temporary.url }),
  })
  token = String(
    (await json('POST', '/auth/signin', { username: 'admin', password: adminPassword })).access_token,
  )
  for (const [at, name] of ['FIRST', 'SECOND'].entries())
    await json('POST', '/_system/secrets', { name, value: 'to be replaced' }).then((made) =>
      json('PUT', `/_system/secrets/${guidOf(made)}`, { value: values[at] ?? '' }),
    )
  blueprint = await installOver(node.address, token, {
    name: 'Signed',
    blocks: JSON.parse(JSON.stringify(blocks)),
  })
  await json('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
})
afterAll(async () => {
  await node?.end('SIGKILL')
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

const signed = (body: JsonValue, secret: string) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(JSON.stringify(body)).digest('hex')}`,
})

/** Everything that a user or an operator can read of the cluster, by where it is. */
async function places(): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  for (const path of [
    '/_system/secrets/search',
    '/_system/auditlogs',
    '/_system/systemlogs/search',
    '/_system/userlogs/search',
    '/blueprintactions/search',
    '/_system/storages/search',
  ])
    all.set(path, (await call('POST', path, { limit: 500 })).text)
  for (const path of ['/openapi.json', '/info', '/blocks', `/blueprints/${blueprint}/blocks`, '/runs'])
    all.set(path, (await call('GET', path)).text)
  const runs = objectsOf(JSON.parse(all.get('/runs') ?? '[]'))
  for (const { guid } of runs) all.set(`run ${guid}`, (await call('GET', `/runs/${guid}`)).text)
  const exported = await quoinCommand(['export', 'Signed', '--url', node.address], { QUOIN_TOKEN: token })
  all.set('export', exported.printed)
  all.set('output', node.output())
  return all
}

/** What is on the disk, or in the tables, of the cluster. */
async function stored(): Promise<Map<string, Buffer | string>> {
  const all = new Map<string, Buffer | string>()
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (file.isFile()) all.set(file.name, await readFile(join(file.parentPath, file.name)))
  if (!temporary) return all
  const client = new Client({ connectionString: temporary.url })
  await client.connect()
  const tables = await client.query(
    "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
  )
  for (const { name } of tables.rows) {
    const { rows } = await client.query(`SELECT t::text AS line FROM ${name} t`)
    all.set(name, rows.map(({ line }) => line).join('\n'))
  }
  await client.end()
  return all
}

test('secrets work, and their uses are audited', async () => {
  const body = { id: 1 }
  for (const [secret, status] of [
    [values[0], 200],
    [values[1], 200],
    ['to be replaced', 401],
    [key, 401],
  ] as const) {
    const reply = await call('POST', '/signed', body, signed(body, secret ?? ''))
    expect([reply.status, found(reply.text)]).toEqual([status, []])
  }
  const broken = await call('POST', '/broken', body)
  expect([broken.status, found(broken.text)]).toEqual([500, []])
  const uses = async () => {
    const { text } = await call('POST', '/_system/auditlogs', {
      filters: { category: 'secrets', action: 'used' },
    })
    return objectsOf(JSON.parse(text)).map(({ name, after }) => [name, after])
  }
  const used = { blueprint, block: expect.any(String) }
  await expect.poll(uses, { timeout: 60_000 }).toEqual(
    expect.arrayContaining([
      ['FIRST', used],
      ['SECOND', used],
    ]),
  )
  // One for each block and secret, however often it is used.
  expect(await uses()).toHaveLength(2)
})

test('no reply, log, trace or export contains one', async () => {
  await expect
    .poll(async () => [...(await places()).keys()].filter((name) => name.startsWith('run ')).length, {
      timeout: 60_000,
    })
    .toBe(5)
  const all = await places()
  // The search reads the right things.
  expect(all.get('export')).toContain('"secrets": [')
  expect(all.get('/_system/systemlogs/search')).toContain('names the secret NONE')
  expect(all.get('/openapi.json')).toContain('/signed')
  expect([...all.values()].join()).toContain('check_signature')
  for (const [place, text] of all) expect([place, found(text)]).toEqual([place, []])
  for (const [place, text] of all) expect([place, text.includes('to be replaced')]).toEqual([place, false])
})

test('neither does the database', async () => {
  const all = await stored()
  expect(all.size).toBeGreaterThan(2)
  let sealed = 0
  for (const [place, content] of all) {
    if (content.includes('FIRST')) sealed += 1
    for (const one of requested) expect([place, content.includes(one)]).toEqual([place, false])
    expect([place, content.includes('to be replaced')]).toEqual([place, false])
  }
  // Control: names are found, so values would be.
  expect(sealed).toBeGreaterThan(0)
})
