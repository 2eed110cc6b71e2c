import { expect } from 'vitest'
import { isGuid } from '../../src/shared/guid.ts'
import type { JsonValue } from '../../src/shared/json.ts'
import { search } from '../../src/shared/query.ts'
import type { Job, JobLease, NewJob } from '../../src/storage/job.ts'
import { transact } from '../../src/storage/transact.ts'
import { create, failure, set, turns } from './expectations.ts'
import { claim, claimOne, clearing, enqueue, job, LEASE, titles } from './queues.ts'
import type { It } from './world.ts'

/** A list that holds itself twice, so many levels deep: small in memory, and as a tree larger than any disk. */
function doubled(levels: number): JsonValue {
  let value: JsonValue = 'x'
  for (let level = 0; level < levels; level++) value = [value, value]
  return value
}

/** The life of jobs. */
export function jobChapter(declare: It): void {
  const it = clearing(declare)

  it('what cannot be a job is refused, naming the field, and leaves nothing', async (world) => {
    const refused: readonly [field: string, changes: Partial<NewJob>][] = [
      ['queue', { queue: 'Not A Queue' }],
      ['queue', { queue: '' }],
      ['payload', { payload: { text: 'x'.repeat(1024 * 1024) } }],
      ['payload', { payload: { text: '\u0000' } }],
      ['payload', { payload: { doubled: doubled(60) } }],
      ['priority', { priority: 1.5 }],
      ['priority', { priority: 1001 }],
      ['attempts', { attempts: 0 }],
      ['runAt', { runAt: Number.NaN }],
      ['dedupeKey', { dedupeKey: 'x'.repeat(513) }],
      ['orderKey', { orderKey: '\ud800' }],
    ]
    for (const [field, changes] of refused) {
      const session = world.database.session()
      const { fields } = await failure('INVALID_BODY', () => session.enqueue(job(world, changes)))
      expect(fields).toEqual([field])
      expect(session.transaction.hasWritten).toBe(false)
    }
    expect(await claim(world)).toEqual([])
  })

  it('states of jobs are read together, and what is no job has none', async (world) => {
    const { jobs } = world.database.capabilities
    const [waiting, running] = [await enqueue(world, { runAt: world.clock.now + 1e6 }), await enqueue(world)]
    await claimOne(world)
    const states = await jobs.states([waiting, running, 'no guid', '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'])
    expect(Object.fromEntries(states)).toEqual({ [waiting]: 'waiting', [running]: 'running' })
    expect(await jobs.states([])).toEqual(new Map())
  })

  it('a claim takes no more of a queue than it has room for', async (world) => {
    const { jobs } = world.database.capabilities
    const take = (room: number) =>
      jobs.claim({ owner: 'w', limit: 8, leaseMs: LEASE, rooms: new Map([[world.name, room]]) })
    for (let n = 0; n < 5; n++) await enqueue(world)
    expect(await take(0)).toEqual([])
    expect(await take(2)).toHaveLength(2)
    expect(await take(9)).toHaveLength(3)
  })

  it('a job is there when its transaction is committed, and with the documents of it', async (world) => {
    const { database, name, clock } = world
    const session = database.session()
    await session.create(name, set({ title: 'a' }))
    const guid = await session.enqueue(
      job(world, { title: 'first', payload: { deep: { list: [1, null, 'é'] } } }),
    )
    expect(isGuid(guid ?? '')).toBe(true)
    expect(session.transaction.hasWritten).toBe(true)
    await turns()
    expect(await database.capabilities.jobs.get(guid ?? '')).toBeUndefined()
    expect(await claim({ ...world, database }, 0)).toEqual([])
    await session.transaction.commit()
    expect(await database.capabilities.jobs.get(guid ?? '')).toEqual({
      guid,
      queue: name,
      kind: 'function',
      title: 'first',
      payload: { deep: { list: [1, null, 'é'] } },
      state: 'waiting',
      priority: 0,
      runAt: clock.now,
      attempt: 0,
      attempts: 3,
      created: clock.now,
      updated: clock.now,
      started: null,
      finished: null,
      leaseUntil: 0,
      owner: '',
      lastError: null,
      failedIn: null,
      version: 1,
    })
  })

  it('a session that only enqueues commits as well, and one that is rolled back leaves no job', async (world) => {
    const undone = world.database.session()
    await undone.create(world.name, set({ title: 'a' }))
    await undone.enqueue(job(world, { title: 'undone' }))
    await undone.transaction.rollback()
    const committed = world.database.session()
    await committed.enqueue(job(world, { title: 'kept' }))
    await committed.transaction.commit()
    expect(titles(await claim(world))).toEqual(['kept'])
  })

  it('jobs outlive the process', async (world) => {
    const guid = await enqueue(world, { orderKey: 'o', dedupeKey: 'd-outlive' })
    await world.database.capabilities.queues.configure(world.name, { concurrency: 4 })
    await world.reopen()
    expect(await world.database.capabilities.jobs.get(guid)).toMatchObject({
      state: 'waiting',
      orderKey: 'o',
    })
    const state = (await world.database.capabilities.queues.list()).find(({ name }) => name === world.name)
    expect(state).toMatchObject({ concurrency: 4, waiting: 1 })
  })

  it('a dedupe key is taken while its job is live, and free afterwards', async (world) => {
    const { database } = world
    const dedupeKey = `${world.name}-key`
    const first = await enqueue(world, { dedupeKey })
    const again = () => transact(database, (session) => session.enqueue(job(world, { dedupeKey })))
    expect(await again()).toBeUndefined()
    const claimed = await claimOne(world)
    expect(claimed.guid).toBe(first)
    expect(await again()).toBeUndefined()
    await database.capabilities.jobs.fail(claimed, 'no')
    expect(await again()).toBeTypeOf('string')
    expect(await again()).toBeUndefined()
    await failure('CONFLICT', () => database.capabilities.jobs.requeue(first))
    expect(await database.capabilities.jobs.get(first)).toMatchObject({ state: 'dead' })
    // The transaction goes on: a taken key is no error.
    await transact(database, async (session) => {
      expect(await session.enqueue(job(world, { dedupeKey }))).toBeUndefined()
      await session.create(world.name, set({ title: 'still' }))
    })
    expect(await database.session().count(world.name, { kind: 'all' })).toBe(1)
  })

  it('two sessions at once cannot both take a dedupe key', async (world) => {
    const dedupeKey = `${world.name}-key`
    const guids = await Promise.all(
      Array.from({ length: 8 }, () =>
        transact(world.database, (session) => session.enqueue(job(world, { dedupeKey }))),
      ),
    )
    expect(guids.filter((guid) => guid !== undefined)).toHaveLength(1)
    expect(await claim(world)).toHaveLength(1)
  })

  it('priority comes first, then the time, then the order of enqueueing; not before its time', async (world) => {
    const { clock } = world
    const start = clock.now
    await enqueue(world, { title: 'later', runAt: start + 1000, priority: 1000 })
    await enqueue(world, { title: 'second', runAt: start - 5 })
    await enqueue(world, { title: 'third' })
    await enqueue(world, { title: 'fourth' })
    await enqueue(world, { title: 'first', priority: 5 })
    expect(titles(await claim(world, 3))).toEqual(['first', 'second', 'third'])
    expect(titles(await claim(world))).toEqual(['fourth'])
    expect(await claim(world)).toEqual([])
    clock.now = start + 1000
    expect(titles(await claim(world))).toEqual(['later'])
  })

  it('queues take turns, so that a long one does not keep another waiting', async (world) => {
    const other = `${world.name}-b`
    for (let n = 0; n < 10; n++) await enqueue(world, { title: `a${n}` })
    const late = await enqueue(world, { queue: other, title: 'b' })
    expect(titles(await claim(world, 3)).toSorted()).toEqual(['a0', 'a1', 'b'])
    await world.database.capabilities.jobs.cancel(late)
  })

  it('many who claim at once get each job once', async (world) => {
    await transact(world.database, async (session) => {
      for (let n = 0; n < 200; n++) await session.enqueue(job(world, { title: `${n}` }))
    })
    const claimed = await Promise.all(
      Array.from({ length: 25 }, (_, worker) => claim(world, 10, `worker-${worker}`)),
    )
    const all = claimed.flat()
    expect(all).toHaveLength(200)
    expect(new Set(all.map(({ guid }) => guid)).size).toBe(200)
  })

  it('a paused queue gives nothing until it goes on, and its running jobs end', async (world) => {
    const { database, name } = world
    await enqueue(world, { title: 'a' })
    const running = await claimOne(world)
    await enqueue(world, { title: 'b' })
    expect(await database.capabilities.queues.configure(name, { paused: true })).toMatchObject({
      paused: true,
      concurrency: null,
      waiting: 1,
      running: 1,
    })
    expect(await claim(world)).toEqual([])
    expect(await database.capabilities.jobs.complete(running)).toBe(true)
    await database.capabilities.queues.configure(name, { paused: false })
    expect(titles(await claim(world))).toEqual(['b'])
  })

  it('a queue never has more running than its concurrency, whichever worker claims', async (world) => {
    const { database, name } = world
    await database.capabilities.queues.configure(name, { concurrency: 2 })
    for (let n = 0; n < 5; n++) await enqueue(world, { title: `${n}` })
    const claims = await Promise.all(['x', 'y', 'z'].map((owner) => claim(world, 5, owner)))
    const running = claims.flat()
    expect(titles(running)).toEqual(['0', '1'])
    expect(await database.capabilities.jobs.complete(running[0] as Job)).toBe(true)
    expect(titles(await claim(world))).toEqual(['2'])
    await failure('INVALID_BODY', async () =>
      database.capabilities.queues.configure(name, { concurrency: 0 }),
    )
    await failure('INVALID_BODY', async () => database.capabilities.queues.configure('No Name', {}))
    await database.capabilities.queues.configure(name, { concurrency: null })
    expect(titles(await claim(world))).toEqual(['3', '4'])
  })

  it('jobs of one order key run one after the other, in order, also when one is tried again', async (world) => {
    const { database, clock } = world
    const orderKey = `${world.name}-document`
    for (const title of ['1', '2', '3']) await enqueue(world, { title, orderKey, priority: Number(title) })
    await enqueue(world, { title: 'free' })
    expect(titles(await claim(world)).toSorted()).toEqual(['1', 'free'])
    const [first] = (
      await database.capabilities.jobs.search(search({ query: { kind: 'term', field: 'title', value: '1' } }))
    ).records
    expect(await database.capabilities.jobs.fail(first as JobLease, 'not yet', clock.now + 500)).toBe(true)
    expect(await claim(world)).toEqual([])
    clock.now += 500
    const again = await claimOne(world)
    expect([again.title, again.attempt, again.lastError]).toEqual(['1', 2, 'not yet'])
    expect(await claim(world)).toEqual([])
    await database.capabilities.jobs.complete(again)
    const second = await claimOne(world)
    expect(second.title).toBe('2')
    await database.capabilities.jobs.fail(second, 'dead')
    const third = await claimOne(world)
    expect(third.title).toBe('3')
    // A requeued dead letter waits for the running job. Its time is earlier than that of the jobs enqueued since.
    await enqueue(world, { title: '4', orderKey })
    await database.capabilities.jobs.requeue(second.guid)
    expect(await claim(world)).toEqual([])
    await database.capabilities.jobs.cancel(third.guid)
    expect(titles(await claim(world))).toEqual(['2'])
    expect(await database.capabilities.jobs.complete({ ...second, attempt: 1 })).toBe(true)
    expect(titles(await claim(world))).toEqual(['4'])
  })

  it('the run of the last attempt that failed is kept until an attempt ends otherwise', async (world) => {
    const { jobs } = world.database.capabilities
    const failedIn = { run: 'run-1', blueprint: 'blueprint-1', block: '' }
    const guid = await enqueue(world, { attempts: 2 })
    const storedFailure = async () => (await jobs.get(guid))?.failedIn
    expect(await storedFailure()).toBeNull()
    await jobs.fail(await claimOne(world), 'no', world.clock.now, failedIn)
    expect(await storedFailure()).toEqual(failedIn)
    expect(await claimOne(world)).toMatchObject({ guid, failedIn })
    world.clock.now += LEASE
    expect(await claim(world)).toEqual([])
    expect(await jobs.get(guid)).toMatchObject({ state: 'dead', failedIn: null })
    await jobs.requeue(guid)
    const other = { ...failedIn, run: 'run-2', block: 'block-2' }
    await jobs.fail(await claimOne(world), 'no', undefined, other)
    const { records } = await jobs.search(search({ query: { kind: 'term', field: 'status', value: 'dead' } }))
    expect(records.find((one) => one.guid === guid)).toMatchObject({ failedIn: other })
    await jobs.requeue(guid)
    await jobs.fail(await claimOne(world), 'without a run')
    expect(await storedFailure()).toBeNull()
    await jobs.requeue(guid)
    await jobs.fail(await claimOne(world), 'no', world.clock.now, other)
    await jobs.complete(await claimOne(world))
    expect(await storedFailure()).toBeNull()
  })

  it('a lease that runs out is taken over, and who lost it can do nothing any more', async (world) => {
    const { database, clock } = world
    await enqueue(world)
    const lost = await claimOne(world, 'slow')
    expect(await claim(world, 1, 'other')).toEqual([])
    clock.now += LEASE - 1
    expect(await database.capabilities.jobs.renew(lost, LEASE)).toBe(true)
    clock.now += LEASE - 1
    expect(await claim(world, 1, 'other')).toEqual([])
    clock.now += 1
    const taken = await claimOne(world, 'other')
    expect([taken.guid, taken.attempt, taken.owner]).toEqual([lost.guid, 2, 'other'])
    expect(taken.lastError).toMatch(/lease ran out/)
    expect(await database.capabilities.jobs.renew(lost, LEASE)).toBe(false)
    expect(await database.capabilities.jobs.complete(lost)).toBe(false)
    expect(await database.capabilities.jobs.fail(lost, 'late')).toBe(false)
    expect(await database.capabilities.jobs.release([lost])).toBe(0)
    expect(await database.capabilities.jobs.get(lost.guid)).toMatchObject({
      state: 'running',
      owner: 'other',
      attempt: 2,
    })
    expect(await database.capabilities.jobs.complete(taken)).toBe(true)
    expect(await database.capabilities.jobs.complete(taken)).toBe(false)
    expect(await database.capabilities.jobs.get(lost.guid)).toMatchObject({
      state: 'done',
      finished: clock.now,
      lastError: null,
    })
  })

  it('a worker that takes over with the same name is still a different owner', async (world) => {
    const { database, clock } = world
    await enqueue(world)
    const first = await claimOne(world)
    clock.now += LEASE
    const second = await claimOne(world)
    expect(await database.capabilities.jobs.complete(first)).toBe(false)
    expect(await database.capabilities.jobs.complete(second)).toBe(true)
  })

  it('a job whose last attempt took its worker down is dead, not tried for ever', async (world) => {
    const { database, clock } = world
    const orderKey = `${world.name}-o`
    const guid = await enqueue(world, { attempts: 2, orderKey })
    await enqueue(world, { title: 'behind', orderKey })
    await claimOne(world)
    clock.now += LEASE
    await claimOne(world)
    clock.now += LEASE
    const died: Job[] = []
    const next = await database.capabilities.jobs.claim({
      ...{ owner: 'other', leaseMs: LEASE, limit: 100 },
      died: (job) => void died.push(job),
    })
    expect(titles(next)).toEqual(['behind'])
    expect(died).toMatchObject([
      { guid, state: 'dead', attempt: 2, payload: {}, lastError: expect.stringMatching(/lease ran out/) },
    ])
    expect(await database.capabilities.jobs.get(guid)).toMatchObject({
      state: 'dead',
      attempt: 2,
      finished: clock.now,
    })
  })

  it('a job without a time to try again is dead; requeued it has all its attempts again', async (world) => {
    const { database, clock } = world
    const guid = await enqueue(world, { attempts: 1 })
    const claimed = await claimOne(world)
    expect(await database.capabilities.jobs.fail(claimed, `bad\u0000${'x'.repeat(5000)}`)).toBe(true)
    expect(await claim(world)).toEqual([])
    const dead = await database.capabilities.jobs.get(guid)
    expect(dead).toMatchObject({ state: 'dead', attempt: 1, owner: 'worker-1' })
    expect(dead?.lastError?.length).toBe(4000)
    clock.now += 50
    expect(await database.capabilities.jobs.requeue(guid)).toMatchObject({
      state: 'waiting',
      attempt: 0,
      runAt: clock.now,
    })
    await failure('CONFLICT', () => database.capabilities.jobs.requeue(guid))
    expect(await claimOne(world)).toMatchObject({ guid, attempt: 1 })
    await failure('CONFLICT', () => database.capabilities.jobs.requeue(guid))
    expect(await database.capabilities.jobs.requeue('nobody')).toBeUndefined()
  })

  it('a job can be a dead letter from the beginning: it is not claimed until it is requeued', async (world) => {
    const { jobs } = world.database.capabilities
    const failedIn = { run: 'r', blueprint: 'b', block: '' }
    const dead = { error: 'It failed.', failedIn }
    for (const keys of [{}, { dedupeKey: `dead ${world.name}`, orderKey: world.name }]) {
      const guid = await enqueue(world, { ...keys, dead, attempts: 1 })
      expect(await claim(world)).toEqual([])
      const about = {
        state: 'dead',
        attempt: 1,
        lastError: 'It failed.',
        failedIn,
        finished: world.clock.now,
      }
      expect(await jobs.get(guid)).toMatchObject(about)
      const waits = await enqueue(world, keys)
      expect((await claimOne(world)).guid).toBe(waits)
      await jobs.cancel(waits)
      await jobs.requeue(guid)
      expect(await claimOne(world)).toMatchObject({ guid, attempt: 1 })
      await jobs.cancel(guid)
    }
  })

  it('what is handed back can be claimed at once, and the attempt does not count', async (world) => {
    await enqueue(world, { title: 'a', attempts: 1 })
    await enqueue(world, { title: 'b' })
    const claimed = await claim(world)
    expect(await world.database.capabilities.jobs.release(claimed)).toBe(2)
    expect(await world.database.capabilities.jobs.release(claimed)).toBe(0)
    const again = await claim(world, 5, 'other')
    expect(again.map(({ title, attempt }) => [title, attempt])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  })

  it('what is handed back for later is claimed then and not before, and the attempt does not count', async (world) => {
    const { jobs } = world.database.capabilities
    await enqueue(world, { title: 'a', attempts: 1, orderKey: 'k' })
    await enqueue(world, { title: 'b', orderKey: 'k' })
    const claimed = await claim(world)
    const later = world.clock.now + 5_000
    expect(await jobs.release(claimed, later)).toBe(1)
    expect(await jobs.release(claimed, later)).toBe(0)
    world.clock.now = later - 1
    expect(await claim(world)).toEqual([])
    world.clock.now = later
    expect(await claimOne(world)).toMatchObject({ title: 'a', attempt: 1, runAt: later, version: 4 })
  })

  it('of jobs that have not begun, one that has begun or failed once is not cancelled', async (world) => {
    const { jobs } = world.database.capabilities
    const only = { unbegun: true }
    const waiting = await enqueue(world)
    expect(await jobs.cancel(waiting, only)).toMatchObject({ guid: waiting })
    await enqueue(world, { attempts: 2 })
    const running = await claimOne(world)
    expect(await jobs.cancel(running.guid, only)).toBeUndefined()
    expect(await jobs.fail(running, 'not yet', world.clock.now + 500)).toBe(true)
    expect(await jobs.cancel(running.guid, only)).toBeUndefined()
    expect(await jobs.cancel(running.guid)).toMatchObject({ state: 'waiting', attempt: 1 })
  })

  it('a cancelled job is gone in each state; its worker can no longer renew', async (world) => {
    const { database } = world
    const waiting = await enqueue(world)
    expect(await database.capabilities.jobs.cancel(waiting)).toMatchObject({
      guid: waiting,
      state: 'waiting',
    })
    expect(await database.capabilities.jobs.cancel(waiting)).toBeUndefined()
    expect(await database.capabilities.jobs.get(waiting)).toBeUndefined()
    await enqueue(world)
    const running = await claimOne(world)
    expect(await database.capabilities.jobs.cancel(running.guid)).toMatchObject({ state: 'running' })
    expect(await database.capabilities.jobs.renew(running, LEASE)).toBe(false)
    expect(await database.capabilities.jobs.complete(running)).toBe(false)
    expect(await claim(world)).toEqual([])
  })

  it('listeners hear of commits that give workers something to do, and of no others', async (world) => {
    const { database } = world
    let heard = 0
    const end = database.capabilities.jobs.onEnqueued(() => {
      heard += 1
    })
    const undone = database.session()
    await undone.enqueue(job(world))
    await undone.transaction.rollback()
    await create(database, world.name, { title: 'no job' })
    await turns()
    expect(heard).toBe(0)
    await enqueue(world)
    await turns()
    expect(heard).toBe(1)
    const claimed = await claimOne(world)
    await database.capabilities.jobs.renew(claimed, LEASE)
    await database.capabilities.jobs.fail(claimed, 'no')
    await turns()
    expect(heard).toBe(1)
    await database.capabilities.jobs.requeue(claimed.guid)
    await turns()
    expect(heard).toBe(2)
    end()
    await enqueue(world)
    await turns()
    expect(heard).toBe(2)
  })

  it('an observer’s job is committed or rolled back with the document', async (world) => {
    const { database, name } = world
    const end = database.observe(name, async (session, { guid }) => {
      await session.enqueue(job(world, { kind: 'event', title: guid, orderKey: guid }))
    })
    const guid = await create(database, name, { n: 1 })
    const undone = database.session()
    await undone.create(name, set({ n: 2 }))
    await undone.transaction.rollback()
    end()
    expect((await claim(world)).map(({ kind, title }) => [kind, title])).toEqual([['event', guid]])
  })
}
