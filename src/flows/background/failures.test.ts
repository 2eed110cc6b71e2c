import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import type { Failure } from '../../shared/failure.ts'
import { matchAll, search } from '../../shared/query.ts'
import { transact } from '../../storage/transact.ts'
import { wrappedDatabase } from '../../storage/wrapped-session.ts'
import { type Failures, openFailures } from './failures.ts'

let fixture: JobFixture
let failures: Failures
let logged: string[]
let broken: boolean
/** Guids of blueprints: one that hears of its own failures, one that hears of all, and one that hears of nothing. */
let own: string
let all: string
let deaf: string

const listening = (watch: string): FlowBlocks => ({
  told: { type: 'failure_event', fields: { watch } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: '@told.flow',
      storage: 'told',
      set: `={ by: '${watch}', event: told.event, name: told.name, code: told.code, message: told.message, count: told.count, since: told.since, time: told.time }`,
    },
  },
})

beforeEach(async () => {
  fixture = await openJobFixture()
  own = await fixture.install(listening('blueprint'))
  all = await fixture.install(listening('cluster'))
  deaf = await fixture.install({ on: { type: 'trigger_custom_function', fields: { name: 'deaf' } } })
  logged = []
  broken = false
  failures = openWith()
})
afterEach(async () => {
  await failures.close()
  await fixture.close()
})

function openWith(): Failures {
  const database = wrappedDatabase(fixture.database, {
    session(origin) {
      if (broken) throw new Error('The disk is full.')
      return fixture.database.session(origin)
    },
  })
  const log = { write: ({ message }: { message: string }) => void logged.push(message) }
  return openFailures({ database, live: fixture.flows.live, clock: fixture.clock, log })
}

const failure = (more: Partial<Failure> = {}): Failure => ({
  ...{
    event: 'on_run_failed',
    blueprint: own,
    block: 'block',
    pin: '',
    trigger: 'trigger',
    code: 'INTERNAL',
  },
  ...{ message: 'It broke.', run: 'run', job: '', time: fixture.clock.now },
  ...more,
})
const jobs = async () =>
  (await fixture.database.capabilities.jobs.search(search({ query: matchAll, limit: 1_000 }))).records.filter(
    ({ state }) => state === 'waiting',
  )
const reported = async () => {
  await fixture.work()
  const found = await fixture.documents('told')
  return found.map(({ by, event, name, code, message, count }) => ({ by, event, name, code, message, count }))
}
describe('who is told', () => {
  test('the blueprint itself, and one that watches the cluster', async () => {
    await failures.tell(failure())
    const about = { event: 'on_run_failed', code: 'INTERNAL', message: 'It broke.', count: 1 }
    expect((await reported()).map(({ name: _name, ...one }) => one)).toEqual([
      { by: 'blueprint', ...about },
      { by: 'cluster', ...about },
    ])
  })

  test.each<[string, Partial<Failure>, () => Partial<Failure>]>([
    ['of another blueprint', {}, () => ({ blueprint: deaf })],
    ['of no blueprint', { blueprint: '' }, () => ({})],
  ])('a failure %s is told to the one that watches the cluster', async (_what, more, late) => {
    await failures.tell(failure({ ...more, ...late() }))
    expect((await reported()).map(({ by }) => by)).toEqual(['cluster'])
  })

  test('an event that is not listened for starts nothing', async () => {
    await failures.tell(failure({ event: 'on_attempt_failed' }))
    expect(await jobs()).toEqual([])
  })

  test('no flow, once the blueprint is no longer active', async () => {
    fixture.flows.live.set(own, undefined)
    fixture.flows.live.set(all, undefined)
    await failures.tell(failure())
    expect(await jobs()).toEqual([])
  })
})

describe('many failures', () => {
  test('10,000 of one kind in a minute are one job at once and one after the minute, with the count', async () => {
    await failures.tell(failure())
    for (let at = 1; at < 9_999; at++) {
      failures.note(failure({ message: `It broke ${at}.` }))
      if (at % 1_000 === 0) fixture.clock.now += 5_000
    }
    expect(await jobs()).toHaveLength(2)
    await reported()
    expect(await jobs()).toHaveLength(0)
    fixture.clock.now += 20_000
    await failures.tell(failure())
    expect(await jobs()).toHaveLength(2)
    const counts = (await reported()).filter(({ by }) => by === 'cluster').map(({ count }) => Number(count))
    expect(counts).toHaveLength(2)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10_000)
  })

  test('while a job of a kind waits there is no second one, however long it waits', async () => {
    for (let minute = 0; minute < 10; minute++) {
      await failures.tell(failure())
      fixture.clock.now += 60_000
    }
    expect(await jobs()).toHaveLength(2)
    await reported()
    await failures.tell(failure())
    const found = await reported()
    expect(found.filter(({ by }) => by === 'blueprint').map(({ count }) => count)).toEqual([1, 10])
  })

  test('after the clock was set back by an hour the next one is told at once', async () => {
    await failures.tell(failure())
    expect(await reported()).toHaveLength(2)
    fixture.clock.now -= 3_600_000
    await failures.tell(failure())
    expect(await jobs()).toHaveLength(2)
  })

  test('two nodes store one job for one kind', async () => {
    const other = openWith()
    await Promise.all([failures.tell(failure()), other.tell(failure())])
    expect(await jobs()).toHaveLength(2)
    await other.close()
  })

  test.each<[string, Partial<Failure>]>([
    ['block', { block: 'other' }],
    ['trigger', { trigger: 'other' }],
    ['code', { code: 'UNAVAILABLE' }],
    ['event', { event: 'on_job_dead' }],
  ])('another %s is another kind', async (_what, other) => {
    await failures.tell(failure())
    await failures.tell(failure(other))
    expect(await jobs()).toHaveLength(4)
  })

  test('of 5,000 kinds 100 a minute are told to each flow, and the log says what was not', async () => {
    for (let at = 0; at < 5_000; at++) failures.note(failure({ block: `block ${at}` }))
    await failures.tell(failure({ block: 'block 0' }))
    expect(await jobs()).toHaveLength(200)
    expect(logged).toEqual([
      expect.stringMatching(/^\d+ failures were not told to flows: there were more than 1000 kinds/),
    ])
  })
})

describe('storing', () => {
  test('rejects where a failure must be told and cannot be, and does so when it can be', async () => {
    broken = true
    await expect(failures.tell(failure())).rejects.toThrow('The disk is full.')
    broken = false
    await failures.tell(failure())
    expect((await reported()).map(({ count }) => count)).toEqual([2, 2])
  })

  test('failing runs cost no transaction each while nothing can be stored, and one line in the log', async () => {
    broken = true
    await failures.tell(failure()).catch(() => undefined)
    for (let at = 0; at < 100; at++) failures.note(failure())
    expect(logged).toHaveLength(1)
    broken = false
    await failures.tell(failure())
    expect((await reported()).map(({ count }) => count)).toEqual([102, 102])
  })

  test('what is left is told when the node stops', async () => {
    await failures.tell(failure())
    await reported()
    failures.note(failure())
    await failures.close()
    expect((await reported()).map(({ count }) => count)).toEqual([1, 1, 1, 1])
  })

  test('jobs for a transaction of the caller carry the count and the first time', async () => {
    const since = fixture.clock.now - 5_000
    const made = failures.jobsOf(failure({ event: 'on_schedule_missed', code: 'MISSED' }), 7, since)
    await transact(fixture.database, async (session) => {
      for (const job of made) await session.enqueue(job)
    })
    await fixture.work()
    expect(await fixture.documents('told')).toMatchObject([
      {
        by: 'blueprint',
        count: 7,
        since: new Date(since).toISOString(),
        time: new Date(fixture.clock.now).toISOString(),
      },
      { by: 'cluster', count: 7 },
    ])
  })

  test('a message is cut at 2,000 characters and stripped of what no document can hold', async () => {
    await failures.tell(failure({ message: `\0${'x'.repeat(1_998)}\ud83d\ude00` }))
    const [first] = await reported()
    expect(String(first?.message)).toHaveLength(2_000)
  })
})
