import { expect } from 'vitest'
import { type Query, search } from '../../src/shared/query.ts'
import type { Job, NewJob } from '../../src/storage/job.ts'
import { transact } from '../../src/storage/transact.ts'
import { failure } from './expectations.ts'
import type { It, World } from './world.ts'

/** Looking at jobs and queues, and tidying them up. */
export function queueChapter(declare: It): void {
  const it = clearing(declare)

  it('jobs are searched by their fields, page by page, and no other field', async (world) => {
    const { database, name, clock } = world
    const start = clock.now
    for (let n = 0; n < 7; n++) {
      clock.now = start + n * 1000
      await enqueue(world, {
        title: `${n}`,
        priority: n % 3,
        runAt: start + n * 1000,
        ...(n === 2 && { orderKey: 'o' }),
      })
    }
    const mine = { kind: 'term', field: 'queue', value: name } as const
    const of = async (requested: Parameters<typeof search>[0]) => {
      const page = await database.capabilities.jobs.search(search(requested))
      return [titles(page.records).join(''), page.total]
    }
    const and = (query: Query): Query => ({ kind: 'and', queries: [mine, query] })
    expect(await of({ query: mine })).toEqual(['6543210', 7])
    expect(await of({ query: mine, limit: 2, offset: 1 })).toEqual(['54', 7])
    expect(await of({ query: mine, limit: 0 })).toEqual(['', 7])
    const two = { kind: 'term', field: 'priority', value: 2 } as const
    expect(await of({ query: and(two) })).toEqual(['52', 2])
    expect(await of({ query: and({ kind: 'not', query: two }) })).toEqual(['64310', 5])
    expect(await of({ query: and({ kind: 'terms', field: 'title', values: ['1', '4'] }) })).toEqual(['41', 2])
    expect(await of({ query: and({ kind: 'terms', field: 'title', values: [] }) })).toEqual(['', 0])
    expect(await of({ query: and({ kind: 'term', field: 'priority', value: '2' }) })).toEqual(['', 0])
    const wrongType = { kind: 'term', field: 'priority', value: '2' } as const
    expect(await of({ query: and({ kind: 'not', query: wrongType }) })).toEqual(['6543210', 7])
    expect(await of({ query: and({ kind: 'exists', field: 'order_key' }) })).toEqual(['2', 1])
    const from = Math.floor(start / 1000) + 5
    const late = { kind: 'range', field: 'scheduled_for', bounds: { gte: from } } as const
    expect(await of({ query: and(late) })).toEqual(['65', 2])
    const words = { kind: 'range', field: 'priority', bounds: { gte: '0' } } as const
    expect(await of({ query: and(words) })).toEqual(['', 0])

    const sort = [
      { field: 'priority', order: 'desc', missing: 'last' },
      { field: 'title', order: 'asc', missing: 'last' },
    ] as const
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await database.capabilities.jobs.search(
        search({ query: mine, sort, limit: 3, ...(after && { after }) }),
      )
      seen.push(titles(page.records).join(''))
      expect(page.total).toBe(7)
      after = page.next
    } while (after)
    expect(seen).toEqual(['251', '403', '6'])
    const [first] = (await database.capabilities.jobs.search(search({ query: mine }))).records
    expect(first).not.toHaveProperty('payload')

    const unknown = { kind: 'term', field: 'payload', value: 'x' } as const
    await failure('INVALID_QUERY', () => database.capabilities.jobs.search(search({ query: unknown })))
    await failure('INVALID_QUERY', () =>
      database.capabilities.jobs.search(
        search({ sort: [{ field: 'constructor', order: 'asc', missing: 'last' }] }),
      ),
    )
    const text = { kind: 'simple_query_string', fields: [], text: 'x' } as const
    await failure('INVALID_QUERY', () => database.capabilities.jobs.search(search({ query: text })))
    await failure('INVALID_QUERY', () => database.capabilities.jobs.search(search({ after: 'made up' })))
  })

  it('queues tell how deep they are, and since when the oldest job is due', async (world) => {
    const { database, name, clock } = world
    const state = async () => (await database.capabilities.queues.list()).find((queue) => queue.name === name)
    expect(await state()).toBeUndefined()
    const start = clock.now
    await enqueue(world, { runAt: start - 3000 })
    await enqueue(world, { runAt: start - 1000, attempts: 1 })
    await enqueue(world, { runAt: start + 1000 })
    expect(await state()).toMatchObject({ waiting: 3, running: 0, done: 0, dead: 0, oldest: start - 3000 })
    const [first, second] = await claim(world)
    expect(await state()).toMatchObject({ waiting: 1, running: 2, oldest: null })
    await database.capabilities.jobs.complete(first as Job)
    await database.capabilities.jobs.fail(second as Job, 'no')
    expect(await state()).toMatchObject({ waiting: 1, running: 0, done: 1, dead: 1, oldest: null })
  })

  it('purge deletes what was done before a time, and empty queues without settings, and nothing else', async (world) => {
    const { database, name, clock } = world
    const before = clock.now
    await transact(database, async (session) => {
      for (let n = 0; n < 5; n++) await session.enqueue(job(world, { title: `${n}` }))
    })
    const [done, late, dead, running] = await claim(world, 4)
    await database.capabilities.jobs.complete(done as Job)
    await database.capabilities.jobs.fail(dead as Job, 'no')
    clock.now += 100
    await database.capabilities.jobs.complete(late as Job)
    expect(await database.capabilities.queues.purge(before)).toBe(0)
    expect(await database.capabilities.queues.purge(before + 1)).toBe(1)
    expect(await database.capabilities.jobs.get(done?.guid ?? '')).toBeUndefined()
    for (const left of [late, dead, running])
      expect(await database.capabilities.jobs.get(left?.guid ?? '')).toBeDefined()
    const names = async () => (await database.capabilities.queues.list()).map((queue) => queue.name)
    expect(await names()).toContain(name)
    await database.capabilities.jobs.cancel(running?.guid ?? '')
    await clear(world)
    await database.capabilities.queues.purge(0)
    expect(await names()).not.toContain(name)
    await database.capabilities.queues.configure(name, { paused: true })
    await database.capabilities.queues.purge(0)
    expect(await names()).toContain(name)
    await database.capabilities.queues.configure(name, { paused: false })
  })
}

/** Short ways to write down what the chapters about jobs do. */
export const LEASE = 10_000

export function job(world: World, changes: Partial<NewJob> = {}): NewJob {
  return { queue: world.name, kind: 'function', title: 'a job', payload: { n: 1 }, ...changes }
}

/** Enqueues and commits. */
export async function enqueue(world: World, changes: Partial<NewJob> = {}): Promise<string> {
  const guid = await transact(world.database, (session) => session.enqueue(job(world, changes)))
  if (guid === undefined) throw new Error('The dedupe key is taken.')
  return guid
}

/** Everything of this test's queue that is due; other tests leave nothing that is. */
export async function claim({ database }: World, limit = 100, owner = 'worker-1'): Promise<readonly Job[]> {
  return database.capabilities.jobs.claim({ owner, leaseMs: LEASE, limit })
}

export async function claimOne(world: World, owner?: string): Promise<Job> {
  const [claimed] = await claim(world, 1, owner)
  if (claimed === undefined) throw new Error('Nothing was due.')
  return claimed
}

export function titles(jobs: readonly { title: string }[]): string[] {
  return jobs.map(({ title }) => title)
}

/** So that the next test finds nothing of this one. */
async function clear({ database, name }: World): Promise<void> {
  const mine = { kind: 'term', field: 'queue', value: name } as const
  const { records: jobs } = await database.capabilities.jobs.search(search({ query: mine, limit: 1000 }))
  for (const { guid } of jobs) await database.capabilities.jobs.cancel(guid)
}

/** Leaves no job behind, so that the next test finds none of this one. */
export function clearing(declare: It): It {
  return (name, run) =>
    declare(name, async (world) => {
      try {
        await run(world)
      } finally {
        await clear(world)
      }
    })
}
