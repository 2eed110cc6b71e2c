/** What the run of a job writes is there once, whatever happens between its last commit and what the worker does after it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, type JobRoom, openJobRoom } from '../../../test/job-room.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import { setFields } from '../../shared/mutation.ts'
import { eventQueue, type Job, type NewJob, scheduleQueue } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'

let room: JobRoom
beforeEach(async () => {
  room = await openJobRoom()
  await room.database.ensure('tasks')
  await room.database.ensure('notes')
})
afterEach(() => room.close())

const LEASE = 10_000
const never = new AbortController().signal
const claim = (owner: string) => room.database.capabilities.jobs.claim({ owner, leaseMs: LEASE, limit: 10 })
const stateOf = async ({ guid }: Job) => (await room.database.capabilities.jobs.get(guid))?.state
const notes = async () => (await room.documents('notes')).map(({ n }) => n)

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
  const blueprint = await room.install({ ...triggers[kind], ...numbering('on', reads) })
  const block = room.flows.live.table().blueprints.get(blueprint)?.compiled.schedules[0]?.block ?? ''
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
    room.database,
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
      room.clock.now += LEASE + 1
      const [taken] = await claim('two')
      expect(taken).toMatchObject({ guid: lost.guid, owner: 'two' })
      await expect(room.runJob(lost, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([])
      if (taken) await room.runJob(taken, never)
      await expect(room.runJob(lost, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([0])
      expect(await room.logged()).toContain('The job was cancelled, or another worker has taken it over.')
    })

    test('that was cancelled commits nothing', async () => {
      const job = await start(kind, reads)
      await room.database.capabilities.jobs.cancel(job.guid)
      await expect(room.runJob(job, never)).rejects.toThrow('another worker has taken it over')
      expect(await notes()).toEqual([])
    })

    test('has ended its job with its last commit: a kill right after it runs nothing again', async () => {
      const job = await start(kind, reads)
      expect(await room.runJob(job, never)).toBe('ended')
      expect(await stateOf(job)).toBe('done')
      room.clock.now += LEASE + 1
      expect(await claim('two')).toEqual([])
      expect(await notes()).toEqual([0])
    })
  },
)

test('a run that fails leaves its job to the worker, and nothing of it is stored', async () => {
  await room.install({
    ...triggers.job,
    ...numbering('on', false),
    bad: { type: 'function_custom_execute', in: { flow: '@note.flow', function: 'missing' } },
  })
  const payload = { blueprint: '', function: 'f', parameters: {} }
  await transact(room.database, (session) =>
    session.enqueue({ queue: 'default', kind: 'function', title: 'f', payload }),
  )
  expect((await room.work()).map(({ error }) => error)).toEqual([expect.stringContaining('missing')])
  expect(await notes()).toEqual([])
})

test('events of one document still run one after the other', async () => {
  await room.install({
    on: { type: 'storage_event', in: { storage: 'tasks', events: 'on_saved' } },
    ...numbering('on', true),
  })
  const guid = await transact(room.database, async (session) => {
    const { guid } = JSON.parse((await session.create('tasks', [])).text)._meta
    for (let n = 0; n < 3; n++) await session.update('tasks', guid, setFields({ n }))
    return guid
  })
  expect(guid).toBeDefined()
  for (let n = 0; n < 4; n++) {
    const due = await claim('one')
    expect(due.map(({ queue }) => queue)).toEqual([eventQueue])
    for (const job of due) await room.runJob(job, never)
  }
  expect(await claim('one')).toEqual([])
  expect((await notes()).toSorted()).toEqual([0, 1, 2, 3])
})
