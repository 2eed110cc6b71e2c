/** QUOIN_WORKERS: what happens when one of the processes is killed, stopped, or does not follow. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { type Connection, openWorkerRoom, statOf, type WorkerRoom } from './worker-room.ts'

const constant: JsonObject = {
  on: { type: 'on_startup_register_uri_get', in: { uri: 'switch' }, scopes: ['*public'] },
  reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'here' } },
}

let room: WorkerRoom
afterEach(() => room.close())

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(10)
}

/** Whether the process runs; one that has ended and whose parent was not told yet does not. */
const lives = (pid: number) => !['Z', 'X', undefined].includes(statOf(pid)?.state)

/** How many processes serve; 0 when the one that was asked is just being killed. */
async function serving(): Promise<number> {
  const connection = room.connect()
  try {
    const reply = await connection.call('GET', '/_system/nodes', { token: room.token })
    return objectsOf(reply.body).filter(({ live }) => live).length
  } catch {
    return 0
  } finally {
    await connection.close()
  }
}

interface Storm {
  /** Titles whose 201 was received. */
  readonly acknowledged: Set<string>
  /** Whatever else came than what was asked for. */
  readonly wrong: string[]
  /** Connections that broke. */
  broken(): number
  stop(): Promise<void>
}

/** Creates tasks and lists them, on connections of its own that are reopened when they break. */
function storm(): Storm {
  const acknowledged = new Set<string>()
  const wrong: string[] = []
  let broken = 0
  let stopped = false

  async function write({ call }: Connection): Promise<void> {
    const title = randomUUID()
    const reply = await call('POST', '/tasks', { body: { title, status: 'storm' }, token: room.token })
    if (reply.status === 201) acknowledged.add(title)
    else wrong.push(`POST ${reply.status} ${JSON.stringify(reply.body)}`)
  }

  async function read({ call }: Connection): Promise<void> {
    const before = [...acknowledged]
    const reply = await call('GET', '/tasks?status=storm&limit=10000')
    const there = new Set(objectsOf(reply.body).map(({ title }) => title))
    const missing = before.filter((title) => !there.has(title))
    if (reply.status !== 200) wrong.push(`GET ${reply.status} ${JSON.stringify(reply.body)}`)
    else if (missing.length > 0) wrong.push(`${missing.length} acknowledged tasks are not listed`)
  }

  async function converse(work: (connection: Connection) => Promise<void>): Promise<void> {
    let connection = room.connect()
    while (!stopped) {
      try {
        await work(connection)
        // Processes that start need the cores too.
        await wait(5)
      } catch {
        broken += 1
        await connection.close()
        connection = room.connect()
      }
    }
    await connection.close()
  }

  const all = Promise.all(
    Array.from({ length: 12 }, (_none, place) => converse(place % 2 === 0 ? write : read)),
  )
  return {
    acknowledged,
    wrong,
    broken: () => broken,
    async stop() {
      stopped = true
      await all
    },
  }
}

async function listed(): Promise<Set<unknown>> {
  const reply = await room.connect().call('GET', '/tasks?status=storm&limit=10000')
  return new Set(objectsOf(reply.body).map(({ title }) => title))
}

describe('under load', () => {
  beforeEach(async () => {
    room = await openWorkerRoom({ QUOIN_EXAMPLES: '1' })
  }, 60_000)

  test('a reader that is killed breaks its connections and nothing else; another one takes its place', async () => {
    const load = storm()
    for (let kill = 0; kill < 2; kill++) {
      const before = load.acknowledged.size
      await until(() => load.acknowledged.size > before + 20)
      const [reader = 0] = room.readers()
      const brokenBefore = load.broken()
      process.kill(reader, 'SIGKILL')
      await until(() => !lives(reader))
      await until(async () => (await serving()) === 3)
      expect(room.readers()).not.toContain(reader)
      // Each of its connections once: a reader has a part of twelve.
      expect(load.broken() - brokenBefore).toBeLessThanOrEqual(12)
    }
    await load.stop()
    expect(load.wrong).toEqual([])
    const there = await listed()
    expect([...load.acknowledged].filter((title) => !there.has(title))).toEqual([])
  }, 60_000)

  test('a writer that is killed takes all with it; nothing that was acknowledged is lost', async () => {
    const readers = room.readers()
    const load = storm()
    await until(() => load.acknowledged.size > 50)
    await room.process.end('SIGKILL')
    await until(() => !readers.some(lives))
    // No reply, not on an open connection either.
    const after = await Promise.allSettled(room.connections.map(({ call }) => call('GET', '/tasks')))
    expect(after.filter(({ status }) => status === 'fulfilled')).toEqual([])
    await load.stop()
    expect(load.wrong.filter((one) => !one.startsWith('POST 503'))).toEqual([])
    room = await room.restart()
    expect(room.readers()).toHaveLength(2)
    const there = await listed()
    expect([...load.acknowledged].filter((title) => !there.has(title))).toEqual([])
  }, 60_000)

  test('a stop lets what is under way finish, and leaves no process', async () => {
    const readers = room.readers()
    const load = storm()
    await until(() => load.acknowledged.size > 50)
    expect(await room.process.end('SIGTERM')).toBe(0)
    expect(readers.filter(lives)).toEqual([])
    await load.stop()
    expect(load.wrong).toEqual([])
    room = await room.restart()
    const there = await listed()
    expect([...load.acknowledged].filter((title) => !there.has(title))).toEqual([])
  }, 60_000)
})

test('a new writer waits for readers of the one before, which do not answer any more', async () => {
  room = await openWorkerRoom({ QUOIN_EXAMPLES: '1' })
  const [held = 0, other = 0] = room.readers()
  process.kill(held, 'SIGSTOP')
  // Its output stays open in the reader that is stopped, so there is no waiting for that.
  process.kill(room.process.pid, 'SIGKILL')
  await until(() => !lives(other))
  const next = room.restart()
  const first = await Promise.race([next.then(() => 'begun'), wait(1_000).then(() => 'waits')])
  expect([first, lives(held)]).toEqual(['waits', true])
  process.kill(held, 'SIGCONT')
  room = await next
  expect(lives(held)).toBe(false)
}, 60_000)

test('a reader that does not answer is killed before what it does not know is acknowledged', async () => {
  room = await openWorkerRoom()
  const guid = await room.install('switch', constant)
  const [held = 0, other = 0] = room.readers()
  process.kill(held, 'SIGSTOP')
  const connection = room.connect()
  const asked = room.everywhere('/switch').catch(() => undefined)
  const reply = await writing(room, `/blueprints/update/set/inactive/${guid}`)
  expect(reply.status).toBe(200)
  expect([lives(held), lives(other)]).toEqual([false, true])
  await asked
  await until(async () => (await serving()) === 3)
  for (let n = 0; n < 30; n++) expect((await room.connect().call('GET', '/switch')).status).toBe(404)
  await connection.close()
}, 60_000)

/** A connection may be one of the reader that was stopped, and then never answers. */
async function writing({ connect, token }: WorkerRoom, path: string) {
  const all = Array.from({ length: 12 }, () => connect().call('PUT', path, { token }))
  return Promise.any(all)
}

test('control: readers that do not follow are found out', async () => {
  const deaf = new URL('../deaf-reader.ts', import.meta.url)
  room = await openWorkerRoom({ NODE_OPTIONS: `--import ${deaf.href}` })
  const guid = await room.install('switch', constant)
  await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  // They have never heard of the route: the writer has answered for them. So it is switched off where they began with it.
  await room.manage('PUT', `/blueprints/update/set/active/${guid}`)
  await room.process.end('SIGTERM')
  room = await room.restart()
  expect(new Set((await room.everywhere('/switch')).map(({ status }) => status))).toEqual(new Set([200]))
  await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  const statuses = new Set((await room.everywhere('/switch')).map(({ status }) => status))
  expect(statuses).toEqual(new Set([200, 404]))
  expect(objectOf(await room.manage('GET', '/info')).nodes).toBe(3)
}, 60_000)
