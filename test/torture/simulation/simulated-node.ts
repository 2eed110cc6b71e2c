/** A node in a simulation: a queue worker and a scheduler with a clock of their own, behind a wire to the database. */
import type { Schedule } from '../../../src/flows/background/schedules.ts'
import { openQueue, type Queue } from '../../../src/queue/queue-worker.ts'
import { openScheduler, type Scheduler } from '../../../src/queue/scheduler.ts'
import type { Cluster } from '../../../src/storage/cluster.ts'
import type { Database } from '../../../src/storage/database.ts'
import type { Job, Jobs } from '../../../src/storage/job.ts'
import { type SqliteParts, SqliteQueues } from '../../../src/storage/sqlite/core/sqlite-parts.ts'
import { SqliteJobs } from '../../../src/storage/sqlite/jobs/sqlite-jobs.ts'
import { JobWork } from '../../../src/storage/sqlite/jobs/sqlite-jobs-claim.ts'
import type { RandomSource } from '../random-source.ts'
import { attemptKey } from './check-jobs.ts'
import { newOwner, type Owner, type VirtualTime } from './virtual-time.ts'
import { type Wire, type WiredDatabase, wiredDatabase, wireOf } from './wired-database.ts'
import { type JobNotes, wiredJobs, wiredQueues } from './wired-jobs.ts'

export interface Breakage {
  /** What to put between the workers and the queue, for a control. */
  readonly jobs?: (jobs: Jobs) => Jobs
  /** And between all and the storage. */
  readonly storage?: (database: Database) => Database
}

export interface NodesWorld {
  readonly time: VirtualTime
  readonly dice: RandomSource
  readonly parts: SqliteParts
  readonly database: Database
  readonly notes: JobNotes
  readonly worked: Set<string>
  /** By name; those that were not killed. */
  readonly nodes: Map<string, SimulatedNode>
  readonly schedules: readonly Schedule[]
  readonly breakage: Breakage
  readonly note: (line: string) => void
}

export interface SimulatedNode {
  readonly owner: Owner
  readonly wire: Wire
  readonly queue: Queue
  /** How far its clock is ahead, milliseconds. */
  readonly skew: number
  /** Its program's; undefined until it is open. */
  scheduler: Scheduler | undefined
  /** kill -9. */
  kill(): void
  /** As an orchestrator stops it. */
  drain(): Promise<void>
}

const settings = {
  leaseMs: 3_000,
  pollMs: 500,
  deadlineMs: 4_000,
  graceMs: 300,
  drainMs: 1_000,
}

export function startNode(world: NodesWorld): SimulatedNode {
  const { time, dice, parts, notes, nodes, breakage } = world
  const self = `node ${time.now} ${dice.below(1e6)}`
  const owner = newOwner()
  const wire = wireOf(time, owner, dice)
  const skew = dice.oneOf([
    0,
    0,
    0,
    dice.between(-3_000, 3_000),
    dice.chance(0.1) ? dice.between(-60_000, 60_000) : 0,
  ])
  const clock = () => time.now + skew
  const jobWork = new JobWork(parts)
  const own = new SqliteJobs(jobWork, clock, dice.bytes)
  const broken = breakage.jobs?.(own) ?? own
  const jobs = wiredJobs({
    jobs: broken,
    notes,
    wire,
    time,
    owner,
    dice,
    clock,
    wakes: [own, world.database.capabilities.jobs],
  })
  const wired = wiredDatabase(world.database, wire, {
    jobs,
    queues: wiredQueues(new SqliteQueues(jobWork, clock), wire),
    cluster: clusterOf(world, self),
  })
  const timers = time.timers(owner)
  const log = () => undefined
  const queue = openQueue({
    ...wired.database.capabilities,
    async runJob(job, signal) {
      await work(world, owner, job, signal)
      return undefined
    },
    clock,
    random: dice.bytes,
    timers,
    settings: { ...settings, concurrency: dice.between(1, 4) },
    log,
  })
  const node: SimulatedNode = {
    owner,
    wire,
    queue,
    skew,
    scheduler: undefined,
    kill: () => end(world, self, node, wired),
    async drain() {
      await Promise.allSettled([queue.close(), node.scheduler?.close()])
      end(world, self, node, wired)
    },
  }
  nodes.set(self, node)
  const schedules = () => world.schedules
  const open = () =>
    openScheduler({
      database: wired.database,
      clock,
      timers,
      schedules,
      onChange: () => () => undefined,
      log,
    })
  void open().then(
    (scheduler) => {
      node.scheduler = scheduler
    },
    // It did not reach the database: as a node that cannot start, it ends, and is started again later.
    () => node.kill(),
  )
  return node
}

function end({ nodes, note }: NodesWorld, self: string, node: SimulatedNode, wired: WiredDatabase): void {
  node.owner.gone = true
  nodes.delete(self)
  wired.disconnect()
  note(`ended ${node.queue.owner}`)
}

/** As the nodes tell each other: one that is stopped or cut off is not live. */
function clusterOf({ nodes, time }: NodesWorld, self: string): Cluster {
  const live = ({ owner, wire }: SimulatedNode) => owner.frozenUntil <= time.now && wire.cutUntil <= time.now
  return {
    self,
    alive: () => true,
    wentBack: () => false,
    notify: async () => undefined,
    send: async () => undefined,
    nodes: async () =>
      [...nodes].map(([guid, node]) => ({
        ...{ guid, name: guid, version: '1', started: 0, seen: 0, load: 0 },
        live: live(node),
        self: guid === self,
      })),
  }
}

/** What a job does is in its payload: see `someTask`. */
async function work(
  { time, worked, note }: NodesWorld,
  owner: Owner,
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  const { takes = 5, fails = 0, deaf = false } = job.payload
  note(`runs ${job.guid} ${job.attempt}`)
  const stopped = new Promise<never>((_resolve, reject) => {
    if (deaf !== true) signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  await Promise.race([time.wait(owner, Number(takes)), stopped])
  if (job.attempt <= Number(fails)) throw new Error('failed on purpose')
  worked.add(attemptKey(job))
}
