/** What the run of a job writes is there once, whatever happens between its last commit and what the worker does after it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import { setFields } from '../../shared/mutation.ts'
import { eventQueue, type Job, type NewJob, scheduleQueue } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'

let fixture: JobFixture
beforeEach(async () => {
  fixture = await openJobFixture()
  await fixture.database.ensure('tasks')
  await fixture.database.ensure('notes')
})
afterEach(() => fixture.close())

const LEASE = 10_000
const never = new AbortController().signal
const claim = (owner: string) =>
  fixture.database.capabilities.jobs.claim({ owner, leaseMs: LEASE, limit: 10 })
const stateOf = async ({ guid }: Job) => (await fixture.database.capabilities.jobs.get(guid))?.state
const notes = async () => (await fixture.documents('notes')).map(({ n }) => n)

/** Behind the trigger: numbers the notes. With a read before the write the run is a unit of work. */
const numbering = (trigger: string, reads: boolean): FlowBlocks => ({
  ...(reads && { all: { type: 'function_search', in: { flow: `@${trigger}.flow`, storage: 'notes' } } }),
  note: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: reads ? '@all.flow' : `@${trigger}.flow`,
      storage: 'notes',
      set: reads ? '={ n: length(all.documents) }' : '={ n: 0 }',
    },
  },
})

const triggers: Readonly<Record<string, FlowBlocks>> = {
  job: { on: { type: 'trigger_custom_function', fields: { name: 'f' } } },
  event: { on: { type: 'storage_event', in: { storage: 'tasks', events: 'on_created' } } },
  tick: { on: { type: 'schedule_repeating_event', in: { cron: '0 0 1 1 *' } } },
}

/** Deploys the flow, and enqueues what starts it. */
async function start(kind: string, reads: boolean): Promise<Job> {
  const blueprint = await fixture.install({ ...triggers[kind], ...numbering('on', reads) })
  const block = fixture.flows.live.table().blueprints.get(blueprint)?.compiled.schedules[0]?.block ?? ''
  const jobs: Readonly<Record<string, NewJob>> = {
    job: {
      queue: 'default',
      kind: 'function',
      title: 'f',
      payload: { blueprint, function: 'f', parameters: {} },
    },
    tick: { queue: scheduleQueue, kind: 'tick', title: 't', payload: { blueprint, block, planned_at: 0 } },
  }
  const job = jobs[kind]
  await transact(
    fixture.database,
    async (session) => {
      if (job) await session.enqueue(job)
      else await session.create('tasks', setFields({ title: 'a' }))
    },
    { user: ada },
  )
  const [claimed] = await claim('one')
  if (!claimed) throw new Error('Nothing was due.')
  return claimed
}

describe.each(Object.keys(triggers).flatMap((kind) => [[kind, false] as const, [kind, true] as const]))(
  'the run of a %s (that reads first: %s)',
  (kind, reads) => {
    test('that lost its lease commits nothing, and the one that has it commits once', async () => {
      const lost = await start(kind, reads)
      fixture.clock.now += LEASE + 1
      const [taken] = await claim('two')
      expect(taken).toMatchObject({ guid: lost.guid, owner: 'two' })
      await expect(fixture.runJob(lost, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([])
      if (taken) await fixture.runJob(taken, never)
      await expect(fixture.runJob(lost, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([0])
      expect(await fixture.logged()).toContain('The job was cancelled, or another worker has taken it over.')
    })

    test('that was cancelled commits nothing', async () => {
      const job = await start(kind, reads)
      await fixture.database.capabilities.jobs.cancel(job.guid)
      await expect(fixture.runJob(job, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([])
    })

    test('has ended its job with its last commit: a kill right after it runs nothing again', async () => {
      const job = await start(kind, reads)
      expect(await fixture.runJob(job, never)).toBe('ended')
      expect(await stateOf(job)).toBe('done')
      fixture.clock.now += LEASE + 1
      expect(await claim('two')).toEqual([])
      expect(await notes()).toEqual([0])
    })
  },
)

test('a run that fails leaves its job to the worker, and nothing of it is stored', async () => {
  await fixture.install({
    ...triggers.job,
    ...numbering('on', false),
    bad: { type: 'function_custom_execute', in: { flow: '@note.flow', function: 'missing' } },
  })
  const payload = { blueprint: '', function: 'f', parameters: {} }
  await transact(fixture.database, (session) =>
    session.enqueue({ queue: 'default', kind: 'function', title: 'f', payload }),
  )
  expect((await fixture.work()).map(({ error }) => error)).toEqual([expect.stringContaining('missing')])
  expect(await notes()).toEqual([])
})

test('events of one document still run one after the other', async () => {
  await fixture.install({
    on: { type: 'storage_event', in: { storage: 'tasks', events: 'on_saved' } },
    ...numbering('on', true),
  })
  const guid = await transact(fixture.database, async (session) => {
    const { guid } = JSON.parse((await session.create('tasks', [])).text)._meta
    for (let n = 0; n < 3; n++) await session.update('tasks', guid, setFields({ n }))
    return guid
  })
  expect(guid).toBeDefined()
  for (let n = 0; n < 4; n++) {
    const due = await claim('one')
    expect(due.map(({ queue }) => queue)).toEqual([eventQueue])
    for (const job of due) await fixture.runJob(job, never)
  }
  expect(await claim('one')).toEqual([])
  expect((await notes()).toSorted()).toEqual([0, 1, 2, 3])
})
