/** Short ways to write down what the chapters about jobs do. */
import { search } from '../../shared/query.ts'
import type { Job, NewJob } from '../job.ts'
import { transact } from '../transact.ts'
import type { It, World } from './world.ts'

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
export async function clear({ database, name }: World): Promise<void> {
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
