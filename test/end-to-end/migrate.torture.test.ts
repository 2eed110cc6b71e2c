/**
 * Moving up: a whole server on the embedded engine, copied to PostgreSQL by the command, and opened there. Then the
 * command as a process that is ended at many points and run again.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { transact } from '../../src/storage/transact.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const BULK = 4_000

/** An endpoint that defers a function, which stores a document; one that fails always; and a schedule. */
const blocks: JsonObject = {
  store: { type: 'storage', fields: { storage: 'sent' } },
  on: { type: 'on_startup_register_uri_post', in: { uri: 'send' } },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@on.flow', function: 'send', queue: 'mail', attempts: 1 },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', code: 202 } },
  begin: { type: 'trigger_custom_function', fields: { name: 'send' } },
  set: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'job' } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@begin.flow', storage: '@store.storage', mutations: '@set.mutations' },
  },
  tick: { type: 'schedule_repeating_event', in: { every: '12h' } },
  ticked: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@tick.flow', storage: '@store.storage', mutations: '@set.mutations' },
  },
}

const failing: JsonObject = {
  store: { type: 'storage', fields: { storage: 'sent' } },
  on: { type: 'on_startup_register_uri_post', in: { uri: 'fail' } },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@on.flow', function: 'fail', queue: 'broken', attempts: 1 },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', code: 202 } },
  begin: { type: 'trigger_custom_function', fields: { name: 'fail' } },
  wrong: { type: 'value_default', in: { default: 'many' } },
  fail: {
    type: 'function_search',
    in: { flow: '@begin.flow', storage: '@store.storage', limit: '@wrong.value' },
  },
}

/** What a user and an administrator see. */
interface Seen {
  readonly tasks: string
  readonly found: string
  readonly storages: readonly JsonObject[]
  readonly blueprints: readonly JsonObject[]
  readonly users: readonly JsonObject[]
  readonly schedules: readonly JsonObject[]
  readonly history: readonly JsonObject[]
  readonly removed: string
}

describe('from the embedded engine to PostgreSQL', () => {
  let before: TestQuoin
  let temporary: TemporaryDatabase
  let seen: Seen
  let token = ''
  let task = ''
  let gone = ''
  /** How many lines of each step the command prints. */
  let parts = 0

  async function look(fixture: TestQuoin): Promise<Seen> {
    const search = async (path: string) => objectsOf(await fixture.manage('POST', path, {}))
    const storages = await search('/_system/storages/search')
    const tasks = storages.find(({ name }) => name === 'tasks')
    const documents = `/_system/storages/${guidOf(tasks)}/documents`
    return {
      tasks: (await fixture.send('GET', '/tasks')).text,
      found: JSON.stringify(await fixture.manage('POST', `${documents}/search`, { query: 'strasse' })),
      storages: storages.map(({ name, fields }) => ({ name: name ?? '', fields: fields ?? null })),
      blueprints: await search('/blueprints/search'),
      // Who signs in changes the record.
      users: (await search('/users/search')).map(({ username, email, custom_scopes }) => ({
        username: username ?? '',
        email: email ?? null,
        custom_scopes: custom_scopes ?? null,
      })),
      schedules: objectsOf(await fixture.manage('GET', '/queue/schedules')),
      history: objectsOf(await fixture.manage('GET', `${documents}/${task}/history`)),
      removed: JSON.stringify(
        (await fixture.documents('tasks')).filter(({ _meta }) => isJsonObject(_meta) && _meta.guid === gone),
      ),
    }
  }

  const queued = async (fixture: TestQuoin) =>
    objectsOf(await fixture.manage('POST', '/queue/search', {}))
      .map(({ queue, status }) => `${queue} ${status}`)
      .filter((line) => !line.startsWith('_'))
      .sort()

  beforeAll(async () => {
    before = await openTestQuoin({ QUOIN_EXAMPLES: '1' })
    await before.addUser('ann', ['reports'])
    token = await before.tokenOf('ann')
    const [tasks] = objectsOf(await before.manage('POST', '/_system/storages/search', {}))
    await before.manage('PUT', `/_system/storages/${guidOf(tasks)}`, { history: true })
    for (const title of ['first', 'Straße', '東京', 'a "quoted" \\ title', 'last']) {
      const made = await before.send('POST', '/tasks', {
        as: 'ann',
        body: { title, notes: { deep: [1, null] } },
      })
      expect(made.status, made.text).toBe(201)
      if (title === 'first') task = guidOf(made.body)
      if (title === 'last') gone = guidOf(made.body)
    }
    await before.send('PUT', `/tasks/${task}`, { as: 'ann', body: { title: 'first, changed' } })
    await before.send('DELETE', `/tasks/${gone}`, { as: 'ann' })
    await before.install('Mail', blocks)
    await before.install('Broken', failing)
    await before.manage('PUT', '/queues/mail', { paused: true })
    expect((await before.send('POST', '/send', { body: {} })).status).toBe(202)
    expect((await before.send('POST', '/fail', { body: {} })).status).toBe(202)
    const expected = ['broken dead', 'mail waiting']
    await vi.waitFor(async () => expect(await queued(before)).toEqual(expected), {
      timeout: 15_000,
      interval: 20,
    })
    const { database } = before.quoin
    await database.ensure('bulk', { text: true, indexes: [{ fields: ['n'], unique: true }] })
    await transact(database, async (session) => {
      for (let n = 0; n < BULK; n++)
        await session.create('bulk', setFields({ n, text: `number ${n} of many`, on: n % 2 === 0 }))
    })
    seen = await look(before)
    parts = database.names().length + 2
    await before.quoin.close()
  }, 120_000)
  afterAll(async () => {
    await before.quoin.close()
    await rm(before.directory, { recursive: true, force: true })
  })
  beforeEach(async () => {
    temporary = await openTemporaryDatabase()
  })
  afterEach(() => temporary.drop())

  test('everything is there, the old password and token work, and the waiting job runs', async () => {
    const moved = await quoinCommand(['migrate', '--from', before.directory, '--to', temporary.url])
    expect(moved).toMatchObject({ code: 0, complained: '' })
    const after = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_EXAMPLES: '1' })
    try {
      expect(after.quoin.database.capabilities.engine).toBe('postgres')
      // It is no first start.
      expect(after.quoin.administrator).toBeUndefined()
      const me = await after.send('GET', '/users/me', { headers: { authorization: `Bearer ${token}` } })
      expect(me).toMatchObject({ status: 200, body: { username: 'ann' } })
      expect(await after.tokenOf('ann')).not.toBe(token)
      expect(await look(after)).toEqual(seen)
      expect(objectsOf(JSON.parse(seen.tasks))).toHaveLength(4)
      expect([seen.found, seen.history.length]).toEqual([expect.stringContaining('Straße'), 2])
      const again = { username: 'ann', password: 'another password', custom_scopes: [] }
      expect((await after.send('POST', '/users', { as: 'admin', body: again })).status).toBe(409)

      expect(await queued(after)).toEqual(['broken dead', 'mail waiting'])
      expect(await after.documents('sent')).toEqual([])
      await after.manage('PUT', '/queues/mail', { paused: false })
      const expected = ['broken dead', 'mail done']
      await expect.poll(() => queued(after), { timeout: 15_000, interval: 20 }).toEqual(expected)
      expect(await after.documents('sent')).toMatchObject([{ by: 'job' }])
      const made = await after.send('POST', '/tasks', { as: 'ann', body: { title: 'on PostgreSQL' } })
      expect(made.status).toBe(201)
    } finally {
      await after.close()
    }
  }, 120_000)

  function start(): ChildProcess {
    return spawn(
      process.execPath,
      ['bin/quoin.mjs', 'migrate', '--from', before.directory, '--to', temporary.url],
      { cwd: root, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
    )
  }

  /** Runs the command until it has printed so many lines, and then does something to it. Gives how it ended. */
  async function run(lines: number, act: (child: ChildProcess) => unknown) {
    const child = start()
    const ended = once(child, 'close')
    let printed = ''
    let complained = ''
    let acted = false
    const look = () => {
      if (acted || printed.split('\n').length <= lines) return
      acted = true
      act(child)
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      look()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complained += text
    })
    look()
    await ended
    return { code: child.exitCode, signal: child.signalCode, printed, complained }
  }

  async function onServer(work: (client: Client, name: string) => Promise<void>): Promise<void> {
    const url = new URL(temporary.url)
    const name = url.pathname.slice(1)
    url.pathname = '/postgres'
    const client = new Client({ connectionString: url.href })
    await client.connect()
    await work(client, name).finally(() => client.end())
  }

  const marks = async () => {
    const client = new Client({ connectionString: temporary.url })
    await client.connect()
    const { rows } = await client.query('SELECT finished FROM copied_from').finally(() => client.end())
    return rows
  }

  test('ended by kill -9 and Ctrl-C at many points, it goes on each time and ends equal', async () => {
    // Between storages, before the end of the copy, and while it compares.
    const cuts = [1, Math.floor(parts / 2), parts - 1, parts + 1, 2 * parts - 1]
    for (const [place, cut] of cuts.entries()) {
      const signal = place % 2 === 1 ? 'SIGINT' : 'SIGKILL'
      const end = await run(cut, (child) => child.kill(signal))
      expect(end).toMatchObject({ code: null, signal, complained: '' })
      expect(await marks()).toEqual([{ finished: null }])
    }
    // Amid something, wherever that is.
    for (const milliseconds of [500, 1000]) {
      await run(0, (child) => setTimeout(() => child.kill('SIGKILL'), milliseconds))
    }
    const end = await run(Number.POSITIVE_INFINITY, () => undefined)
    expect(end).toMatchObject({ code: 0, complained: '' })
    expect(end.printed.match(/ equal$/gm)).toHaveLength(parts)
    const after = await openTestQuoin({ DATABASE_URL: temporary.url })
    expect(await look(after).finally(() => after.close())).toEqual(seen)
  }, 240_000)

  test('a database that goes away is one line and exit code 1; when it is back, it goes on', async () => {
    let away: Promise<void> | undefined
    const end = await run(2, () => {
      away = onServer(async (client, name) => {
        await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
          name,
        ])
      })
    })
    await away
    expect(end).toMatchObject({ code: 1, signal: null })
    expect(end.complained.trim().split('\n')).toHaveLength(1)
    expect(end.complained).toContain('run the same command again')
    await onServer(async (client, name) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    })
    const again = await run(Number.POSITIVE_INFINITY, () => undefined)
    expect(again).toMatchObject({ code: 0, complained: '' })
    expect(await marks()).toEqual([{ finished: expect.any(Date) }])
  }, 120_000)
})
