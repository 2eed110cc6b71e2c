/** What the conformance suite cannot see: two nodes on one database, and transactions that overlap. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { testClock } from '../../../../test/test-database.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { matchAll, search } from '../../../shared/query.ts'
import type { Database } from '../../database.ts'
import type { Job, NewJob } from '../../job.ts'
import { transact } from '../../transact.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import { endInTransaction } from './postgres-jobs-end.ts'

const LEASE = 10_000
let temporary: TemporaryDatabase
/** Looks at the database from outside. */
let watcher: Client
let nodes: readonly [Database, Database]
const clocks = [testClock(), testClock()] as const

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  watcher = new Client({ connectionString: temporary.url })
  await watcher.connect()
  const open = (name: string, clock: () => number) =>
    openNode(temporary.url, { connections: 12, clock, node: name })
  nodes = [await open('one', clocks[0]), await open('two', clocks[1])]
  await nodes[0].ensure('things')
  await nodes[1].ensure('things')
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await watcher.end()
  await temporary.drop()
})
beforeEach(() => {
  for (const clock of clocks) clock.now = 1_800_000_000_000
})
afterEach(() => watcher.query('TRUNCATE job, queue'))

const job = (changes: Partial<NewJob> = {}): NewJob => ({
  queue: 'work',
  kind: 'function',
  title: 'a job',
  payload: {},
  ...changes,
})

const enqueue = (node: Database, ...jobs: readonly Partial<NewJob>[]) =>
  transact(node, async (session) => {
    const guids: (string | undefined)[] = []
    for (const one of jobs) guids.push(await session.enqueue(job(one)))
    return guids
  })

const claim = (node: Database, limit = 100, owner = 'worker') =>
  node.capabilities.jobs.claim({ owner, leaseMs: LEASE, limit })

const titles = (jobs: readonly { title: string }[]) => jobs.map(({ title }) => title)

/** Two workers on each node, until nothing is due any more anywhere. */
async function workAll(limit: number, work: (job: Job) => Promise<void> | void): Promise<void> {
  let running = 0
  const worker = async (node: Database, owner: string) => {
    for (;;) {
      running += 1
      const jobs = await claim(node, limit, owner)
      for (const one of jobs) {
        await work(one)
        expect(await node.capabilities.jobs.complete(one)).toBe(true)
      }
      running -= 1
      // What others are doing may let more go.
      if (jobs.length === 0 && running === 0) return
      if (jobs.length === 0) await new Promise((next) => setImmediate(next))
    }
  }
  await Promise.all(nodes.flatMap((node, n) => ['a', 'b'].map((name) => worker(node, `${n}${name}`))))
}

/** Resolves when so many statements wait for a lock of another transaction. */
const untilWaiting = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await watcher.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      expect(rows).toHaveLength(count)
    },
    { timeout: 5_000, interval: 10 },
  )

it('each of 2,000 jobs is claimed once, by one of four claimers on two nodes', async () => {
  const numbers = Array.from({ length: 2_000 }, (_, n) => n)
  const requested = (n: number) => ({ title: `${n}`, queue: `work-${n % 3}`, priority: n % 2 })
  await Promise.all(
    nodes.flatMap((node, half) =>
      [0, 1, 2, 3].map((part) =>
        enqueue(node, ...numbers.filter((n) => n % 8 === half * 4 + part).map(requested)),
      ),
    ),
  )
  const seen: string[] = []
  await workAll(20, ({ title, attempt }) => {
    expect(attempt).toBe(1)
    seen.push(title)
  })
  expect(seen.length).toBe(2_000)
  expect(new Set(seen).size).toBe(2_000)
  const queues = await nodes[1].capabilities.queues.list()
  expect(queues.map(({ name, waiting, running, done }) => [name, waiting, running, done])).toEqual([
    ['work-0', 0, 0, 667],
    ['work-1', 0, 0, 667],
    ['work-2', 0, 0, 666],
  ])
}, 60_000)

it('a queue with a concurrency never has more running, on all nodes together', async () => {
  await nodes[0].capabilities.queues.configure('work', { concurrency: 3 })
  await enqueue(nodes[1], ...Array.from({ length: 60 }, (_, n) => ({ title: `${n}` })))
  await enqueue(nodes[1], ...Array.from({ length: 60 }, (_, n) => ({ title: `${n}`, queue: 'other' })))
  let most = 0
  let done = 0
  await workAll(5, async () => {
    const work = (await nodes[1].capabilities.queues.list()).find(({ name }) => name === 'work')
    most = Math.max(most, work?.running ?? 0)
    done += 1
  })
  expect([most, done]).toEqual([3, 120])
})

it('jobs of an order key run one after the other, in the order of commits, on all nodes', async () => {
  const keys = ['a', 'b', 'c', 'd']
  const enqueued = (async () => {
    for (let n = 0; n < 15; n++)
      await Promise.all(
        nodes.flatMap((node, half) =>
          keys.map((key) => enqueue(node, { orderKey: key, title: `${key} ${half} ${n}` })),
        ),
      )
  })()
  const order: string[] = []
  const running = new Set<string>()
  const work = async ({ orderKey = '', guid }: Job) => {
    expect(running.has(orderKey)).toBe(false)
    running.add(orderKey)
    order.push(guid)
    await new Promise((next) => setImmediate(next))
    running.delete(orderKey)
  }
  await workAll(3, work)
  await enqueued
  await workAll(3, work)
  const { rows } = await watcher.query('SELECT guid, order_key, state FROM job ORDER BY id')
  expect(rows.length).toBe(120)
  expect(rows.filter(({ state }) => state !== 'done')).toEqual([])
  for (const key of keys) {
    const numbered = rows.filter((row) => row.order_key === key).map(({ guid }) => guid)
    expect(order.filter((guid) => numbered.includes(guid))).toEqual(numbered)
  }
})

it.each(['commit', 'rollback'] as const)(
  'a job waits for an earlier one of its order key that is not committed yet (%s)',
  async (end) => {
    const first = nodes[0].session()
    await first.enqueue(job({ title: 'first', orderKey: 'key' }))
    const second = enqueue(nodes[1], { title: 'second', orderKey: 'key' })
    await untilWaiting(1)
    expect(await claim(nodes[1])).toEqual([])
    await first.transaction[end]()
    await second
    const expected = end === 'commit' ? ['first', 'second'] : ['second']
    for (const title of expected) {
      const [claimed, ...more] = await claim(nodes[1])
      expect([claimed?.title, more]).toEqual([title, []])
      expect(claimed && (await nodes[0].capabilities.jobs.complete(claimed))).toBe(true)
    }
  },
)

it('a job that ends while another of its order key is enqueued lets that one go', async () => {
  await enqueue(nodes[0], { title: 'first', orderKey: 'key' })
  const [first] = await claim(nodes[1])
  const session = nodes[0].session()
  await session.enqueue(job({ title: 'second', orderKey: 'key' }))
  const completed = first && nodes[1].capabilities.jobs.complete(first)
  await untilWaiting(1)
  await session.transaction.commit()
  expect(await completed).toBe(true)
  expect(titles(await claim(nodes[1]))).toEqual(['second'])
})

it('a job of a unit of work does not wait for one of its order key that ended after the first read', async () => {
  await enqueue(nodes[0], { title: 'first', orderKey: 'key' })
  const [first] = await claim(nodes[1])
  const unit = (attempt: number) => nodes[0].session({ unit: { attempt } })
  const stale = unit(1)
  await stale.count('things', matchAll)
  expect(first && (await nodes[1].capabilities.jobs.complete(first))).toBe(true)
  const second = job({ title: 'second', orderKey: 'key' })
  await expect(stale.enqueue(second)).rejects.toBeInstanceOf(SerializationConflict)
  await stale.transaction.rollback()
  const again = unit(2)
  await again.count('things', matchAll)
  await again.enqueue(second)
  await again.transaction.commit()
  expect(titles(await claim(nodes[1]))).toEqual(['second'])
})

it('cancelling a job that waits for its order key lets no other job run', async () => {
  const [first = '', , third = ''] = await enqueue(
    nodes[0],
    ...['first', 'second', 'third'].map((title) => ({ title, orderKey: 'key' })),
  )
  const [dead] = await claim(nodes[0])
  expect(dead && (await nodes[0].capabilities.jobs.fail(dead, 'no'))).toBe(true)
  const [second] = await claim(nodes[0])
  await nodes[0].capabilities.jobs.requeue(first)
  await nodes[1].capabilities.jobs.cancel(third)
  expect(await claim(nodes[1])).toEqual([])
  expect(second && (await nodes[0].capabilities.jobs.complete(second))).toBe(true)
  expect(titles(await claim(nodes[1]))).toEqual(['first'])
})

it('two sessions with the same order keys the other way round: one is undone as a whole, the other goes on', async () => {
  const sessions = nodes.map((node) => node.session())
  const [left, right] = sessions
  await left?.enqueue(job({ title: 'left', orderKey: 'a' }))
  await right?.enqueue(job({ title: 'right', orderKey: 'b' }))
  const results = await Promise.allSettled([
    left?.enqueue(job({ title: 'left', orderKey: 'b' })),
    right?.enqueue(job({ title: 'right', orderKey: 'a' })),
  ])
  const [lost] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(lost).toBeInstanceOf(QuoinError)
  expect(lost).toMatchObject({ code: 'UNAVAILABLE' })
  const winner = results.findIndex(({ status }) => status === 'fulfilled')
  await sessions[1 - winner]?.transaction.rollback()
  await sessions[winner]?.transaction.commit()
  const name = winner === 0 ? 'left' : 'right'
  expect(titles((await nodes[0].capabilities.jobs.search(search({ query: matchAll }))).records)).toEqual([
    name,
    name,
  ])
})

it('jobs are found by one of several numbers, texts, or neither', async () => {
  for (const priority of [1, 2, 3]) await enqueue(nodes[0], { title: `p${priority}`, priority })
  const found = async (field: string, values: readonly (string | number)[]) => {
    const requested = search({ query: { kind: 'terms', field, values } })
    return titles((await nodes[0].capabilities.jobs.search(requested)).records).toSorted()
  }
  expect(await found('priority', [1, 3])).toEqual(['p1', 'p3'])
  expect(await found('title', ['p2', 'p3'])).toEqual(['p2', 'p3'])
  expect(await found('priority', ['1'])).toEqual([])
})

it.each([
  ['commit', undefined],
  ['rollback', expect.any(String)],
] as const)('a dedupe key that another node is just taking is waited for (%s)', async (end, expected) => {
  const first = nodes[0].session()
  expect(await first.enqueue(job({ dedupeKey: 'once' }))).toBeTypeOf('string')
  const second = transact(nodes[1], async (session) => {
    const guid = await session.enqueue(job({ dedupeKey: 'once' }))
    // The transaction goes on either way.
    await session.enqueue(job({ title: `after ${end}` }))
    return guid
  })
  await untilWaiting(1)
  await first.transaction[end]()
  expect(await second).toEqual(expected)
  expect(titles(await claim(nodes[0]))).toEqual(['a job', `after ${end}`])
})

it('a lease that ran out is taken over by another node, and the former owner is fenced', async () => {
  await enqueue(nodes[0], { title: 'slow', orderKey: 'key' }, { title: 'behind', orderKey: 'key' })
  const [lost] = await claim(nodes[0], 1, 'one')
  if (lost === undefined) throw new Error('Nothing was due.')
  expect(await claim(nodes[1], 1, 'two')).toEqual([])
  for (const clock of clocks) clock.now += LEASE
  const [one, two] = await Promise.all([claim(nodes[1], 5, 'two'), claim(nodes[0], 5, 'three')])
  const [taken, ...more] = [...one, ...two]
  expect([taken?.guid, taken?.attempt, more]).toEqual([lost.guid, 2, []])
  expect(await nodes[0].capabilities.jobs.renew(lost, LEASE)).toBe(false)
  expect(await nodes[0].capabilities.jobs.complete(lost)).toBe(false)
  expect(await nodes[0].capabilities.jobs.fail(lost, 'late')).toBe(false)
  expect(await nodes[0].capabilities.jobs.release([lost])).toBe(0)
  expect(await claim(nodes[0])).toEqual([])
  expect(taken && (await nodes[1].capabilities.jobs.complete(taken))).toBe(true)
  expect(titles(await claim(nodes[0]))).toEqual(['behind'])
})

it('a clock that is ahead takes a job over early, and still only one end counts', async () => {
  await enqueue(nodes[0], {})
  const [mine] = await claim(nodes[0], 1, 'one')
  clocks[1].now += LEASE
  const [theirs] = await claim(nodes[1], 1, 'two')
  if (mine === undefined || theirs === undefined) throw new Error('Nothing was due.')
  const ends = await Promise.all([
    nodes[0].capabilities.jobs.complete(mine),
    nodes[1].capabilities.jobs.complete(theirs),
  ])
  expect(ends).toEqual([false, true])
})

it('a commit on one node wakes the workers of the other', async () => {
  let heard = 0
  const end = nodes[1].capabilities.jobs.onEnqueued(() => {
    heard += 1
  })
  await vi.waitFor(
    async () => {
      await enqueue(nodes[0], {})
      expect(heard).toBeGreaterThan(0)
    },
    { timeout: 5_000, interval: 20 },
  )
  end()
})

it('a node that is killed between the end of a job and the next one of its key keeps that one for its lease at most', async () => {
  await enqueue(nodes[0], { title: 'first', orderKey: 'k' }, { title: 'second', orderKey: 'k' })
  const [first] = await claim(nodes[0])
  const rows = async (text: string, values?: readonly unknown[]) =>
    (await watcher.query(text, values && [...values])).rows
  if (first) await endInTransaction({ rows, run: async () => 0 }, first, clocks[0].now)
  expect(titles(await claim(nodes[1]))).toEqual([])
  for (const clock of clocks) clock.now += LEASE
  expect(titles(await claim(nodes[1]))).toEqual(['second'])
  await enqueue(nodes[0], { title: 'third', orderKey: 'k' })
  for (const clock of clocks) clock.now += LEASE / 2
  expect(titles(await claim(nodes[0]))).toEqual([])
})

it('the lease of a job is renewed while its run is a unit of work, which then commits in its first try', async () => {
  await enqueue(nodes[0], {})
  const [claimed] = await claim(nodes[0])
  const unit = nodes[0].session({ unit: { attempt: 1 }, ...(claimed && { job: claimed }) })
  const { jobs } = nodes[0].capabilities
  if (claimed) expect(await jobs.renew(claimed, LEASE)).toBe(true)
  await unit.find('things', search({}))
  for (const clock of clocks) clock.now += LEASE + 1
  if (claimed) expect(await jobs.renew(claimed, LEASE)).toBe(true)
  expect(await claim(nodes[1])).toEqual([])
  expect(await unit.transaction.endJob()).toBe(true)
  await unit.transaction.commit()
  expect(await claim(nodes[1])).toEqual([])
  if (claimed) expect(await jobs.renew(claimed, LEASE)).toBe(false)
})

it('units of work that each end a job and enqueue another one are in no conflict', async () => {
  await enqueue(nodes[0], {}, {}, {}, {})
  const units = (await claim(nodes[0])).map((one) => nodes[0].session({ unit: { attempt: 1 }, job: one }))
  for (const unit of units) await unit.get('things', '0190a000-0000-7000-8000-000000000000')
  for (const unit of units) await unit.enqueue(job({ title: 'next' }))
  for (const unit of units) expect(await unit.transaction.endJob()).toBe(true)
  for (const unit of units) await unit.transaction.commit()
  expect(titles(await claim(nodes[1]))).toEqual(['next', 'next', 'next', 'next'])
})
