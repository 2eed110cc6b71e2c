/** Workers, schedulers and writers that are wrong in one way each: the simulation has to find every one of them. */
import type { Mutation } from '../../../src/shared/mutation.ts'
import type { CreateOptions, Database, NewDocument } from '../../../src/storage/database.ts'
import type { Job, JobLease, Jobs, NewJob } from '../../../src/storage/job.ts'
import type { SqliteWriter } from '../../../src/storage/sqlite/core/sqlite-writer.ts'
import { TransparentSession, wrappedDatabase } from '../../../src/storage/wrapped-session.ts'
import type { Breakage } from './simulated-node.ts'
import type { Writing } from './writer-simulation.ts'

export const brokenWriters: Readonly<Record<string, (writer: SqliteWriter) => Writing>> = {
  'acknowledges before the COMMIT': (writer) => ({
    ...writingOf(writer),
    keep(segment) {
      writer.keep(segment).catch(() => undefined)
      return Promise.resolve()
    },
  }),
  'keeps what is undone': (writer) => ({
    ...writingOf(writer),
    async undo(segment) {
      try {
        await writer.keep(segment)
      } catch {
        // Its transaction was hurt: then there is nothing to keep.
      }
    },
  }),
}

function writingOf(writer: SqliteWriter): Writing {
  return {
    take: writer.take.bind(writer),
    giveUp: writer.giveUp.bind(writer),
    operate: writer.operate.bind(writer),
    keep: writer.keep.bind(writer),
    undo: writer.undo.bind(writer),
    alone: writer.alone.bind(writer),
  }
}

export const brokenNodes: Readonly<Record<string, Breakage>> = {
  'workers without a fence': { jobs: (jobs) => jobsWith(jobs, unfenced(jobs)) },
  'workers that end a job before they run it': { jobs: (jobs) => jobsWith(jobs, hasty(jobs)) },
  'a scheduler without its guards': { storage: unguarded },
  'a scheduler that forgets jobs': {
    storage: (database) =>
      wrappedDatabase(database, { session: (origin) => new Forgetful(database.session(origin)) }),
  },
}

function jobsWith(jobs: Jobs, changes: Partial<Jobs>): Jobs {
  return {
    claim: jobs.claim.bind(jobs),
    renew: jobs.renew.bind(jobs),
    complete: jobs.complete.bind(jobs),
    fail: jobs.fail.bind(jobs),
    release: jobs.release.bind(jobs),
    get: jobs.get.bind(jobs),
    states: jobs.states.bind(jobs),
    search: jobs.search.bind(jobs),
    requeue: jobs.requeue.bind(jobs),
    cancel: jobs.cancel.bind(jobs),
    onEnqueued: jobs.onEnqueued.bind(jobs),
    ...changes,
  }
}

/** Any worker ends the job, whatever its owner. */
function unfenced(jobs: Jobs): Partial<Jobs> {
  const holder = async (lease: JobLease): Promise<JobLease> => (await jobs.get(lease.guid)) ?? lease
  return {
    renew: async (lease, leaseMs) => jobs.renew(await holder(lease), leaseMs),
    complete: async (lease) => jobs.complete(await holder(lease)),
    fail: async (lease, ...failure) => jobs.fail(await holder(lease), ...failure),
  }
}

function hasty(jobs: Jobs): Partial<Jobs> {
  return {
    async claim(claim): Promise<readonly Job[]> {
      const claimed = await jobs.claim(claim)
      for (const job of claimed) await jobs.complete(job)
      return claimed
    },
    renew: async () => true,
    complete: async () => true,
    fail: async () => true,
  }
}

/** Two nodes may both move a schedule on, and both of their ticks and jobs are taken. */
function unguarded(database: Database): Database {
  let written = 0
  /** The same time in other characters, which a unique index lets in. */
  const unlikeAnyOther = (mutation: Mutation): Mutation => {
    if (mutation.op !== 'set' || mutation.field !== 'planned_at') return mutation
    written += 1
    return { ...mutation, value: `${' '.repeat(written % 1000)}${mutation.value}` }
  }
  class Unguarded extends TransparentSession {
    override create(name: string, mutations: readonly Mutation[], options?: CreateOptions) {
      return super.create(name, mutations.map(unlikeAnyOther), options)
    }

    override createAll(name: string, documents: readonly NewDocument[]) {
      return super.createAll(
        name,
        documents.map((one) => ({ ...one, mutations: one.mutations.map(unlikeAnyOther) })),
      )
    }

    override update(name: string, guid: string, mutations: readonly Mutation[]) {
      return super.update(name, guid, mutations)
    }

    override enqueue({ dedupeKey: _key, ...job }: NewJob) {
      return super.enqueue(job)
    }
  }
  return wrappedDatabase(database, { session: (origin) => new Unguarded(database.session(origin)) })
}

/** The tick is written, its job is not. */
class Forgetful extends TransparentSession {
  override enqueue(job: NewJob) {
    return job.kind === 'tick' ? 'forgotten' : super.enqueue(job)
  }
}
