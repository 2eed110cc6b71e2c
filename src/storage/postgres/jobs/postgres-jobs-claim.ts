/**
 * Which node gets which job, when several nodes claim at once.
 *
 * A claim reads which queues have something due, and shares the jobs it may take out among them: each next one to the
 * queue with the fewest running. Then one statement takes them, passing over rows that another claim is just taking
 * (SKIP LOCKED). A queue that gave less than its share is empty for now, and the rest of its share is shared out again.
 *
 * A queue with a concurrency is locked first, by its row, and counted under that lock; so claims from such a queue come
 * one after the other, in the whole cluster. They are locked in the order of their names: no two claims block each other.
 *
 * Times are those of the nodes' own clocks. A clock that is ahead by more than what is left of a lease takes over jobs
 * whose owner is alive: they run twice, and only the end that still has the lease counts. A clock that is behind takes
 * over late. Workers renew when a third of the lease is over (5 s of 15), so up to 10 s apart do nothing.
 */
import type { Claim, Job } from '../../job.ts'
import { jobColumns } from '../../job-row.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { ENDED } from './postgres-jobs-end.ts'
import { endAndLetNextGo, jobOf, lockOf } from './postgres-jobs-enqueue.ts'

const LEASE_OVER = 'The worker that ran it stopped answering: its lease ran out.'
/** So that one claim does not have to bring back all the jobs of a node that died. */
const MOST_LEASES = 500
const WAITING = `state = 'waiting' AND NOT held`

export interface DueQueue {
  readonly name: string
  /** Has a concurrency: must be locked before its jobs are counted. */
  readonly limited: boolean
  /** Since when the first job is due. */
  readonly since: number
  /** How many more may be taken. */
  readonly room: number
  readonly running: number
}

export interface Due {
  /** Whether the lease of some job has run out, also of one that is done and kept it. */
  readonly leasesOver: boolean
  readonly queues: readonly DueQueue[]
}

/** One read, also when there is nothing to do. It walks the index from each queue to the next, not over all jobs. */
export async function findDue(
  connection: PostgresConnection,
  { limit, rooms }: Pick<Claim, 'limit' | 'rooms'>,
  now: number,
): Promise<Due> {
  const rows = await connection.rows(
    `WITH RECURSIVE used AS (
      (SELECT queue AS name FROM job WHERE ${WAITING} ORDER BY queue LIMIT 1)
      UNION ALL
      SELECT (SELECT queue FROM job WHERE ${WAITING} AND queue > used.name ORDER BY queue LIMIT 1)
      FROM used WHERE used.name IS NOT NULL)
    SELECT leases.over, due.* FROM (
      SELECT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND lease_until <= $1)
        OR EXISTS (SELECT 1 FROM job WHERE ${ENDED} AND lease_until <= $1) AS over) AS leases
    LEFT JOIN (
      SELECT used.name, queue.concurrency, first.run_at AS since,
        (SELECT count(*) FROM (SELECT 1 FROM job WHERE job.queue = used.name AND ${WAITING} AND run_at <= $1 LIMIT $2) AS counted) AS due,
        (SELECT count(*) FROM job WHERE job.queue = used.name AND state = 'running') AS running
      FROM used LEFT JOIN queue ON queue.name = used.name
      CROSS JOIN LATERAL (SELECT run_at FROM job WHERE job.queue = used.name AND ${WAITING} AND run_at <= $1
        ORDER BY run_at LIMIT 1) AS first
      WHERE NOT coalesce(queue.paused, false)) AS due ON true`,
    [now, limit],
  )
  const queues = rows.filter((row) => row.name !== null).map((row) => dueQueue(row, rooms))
  return { leasesOver: rows[0]?.over === true, queues: queues.filter(({ room }) => room > 0) }
}

function dueQueue(row: Row, rooms: Claim['rooms']): DueQueue {
  const name = textOf(row, 'name')
  const running = numberOf(row, 'running')
  const limited = row.concurrency !== null
  const most = limited ? numberOf(row, 'concurrency') - running : Number.POSITIVE_INFINITY
  const room = Math.min(numberOf(row, 'due'), most, rooms?.get(name) ?? Number.POSITIVE_INFINITY)
  return { name, limited, since: numberOf(row, 'since'), room, running }
}

/**
 * Jobs whose owner did not renew: waiting again, or dead after the last attempt. In a transaction. `freed`: one died that others
 * of its key waited for.
 */
export async function endLeases(
  connection: PostgresConnection,
  now: number,
): Promise<{ readonly freed: boolean; readonly dead: readonly Job[] }> {
  const over = `state = 'running' AND lease_until <= $1`
  await connection.run(
    `UPDATE job SET state = 'waiting', updated = $1, lease_until = 0, owner = '', last_error = $2, failed_in = NULL, version = version + 1
     WHERE id = ANY (ARRAY(SELECT id FROM job WHERE ${over} AND attempt < attempts
       ORDER BY lease_until LIMIT ${MOST_LEASES} FOR UPDATE SKIP LOCKED))`,
    [now, LEASE_OVER],
  )
  // If another session holds the key, it is enqueueing or ending a job of it: then the next claim does this one.
  const keys = await connection.rows(
    `SELECT found.order_key FROM (SELECT DISTINCT order_key FROM job WHERE ${over} AND attempt >= attempts LIMIT ${MOST_LEASES}) AS found
     WHERE found.order_key IS NULL OR pg_try_advisory_xact_lock(${lockOf('found.order_key')})`,
    [now],
  )
  if (keys.length === 0) return { freed: false, dead: [] }
  const dead = await connection.rows(
    endAndLetNextGo(
      `UPDATE job SET state = 'dead', finished = $1, updated = $1, lease_until = 0, last_error = $2, failed_in = NULL, version = version + 1
       WHERE id = ANY (ARRAY(SELECT id FROM job WHERE ${over} AND attempt >= attempts
         AND (order_key IS NULL OR order_key = ANY ($3::text[])) LIMIT ${MOST_LEASES} FOR UPDATE SKIP LOCKED))`,
      jobColumns.replaceAll(/\w+/g, 'ended.$&'),
    ),
    [now, LEASE_OVER, keys.flatMap(({ order_key: key }) => (typeof key === 'string' ? [key] : []))],
  )
  return { freed: dead.some(({ next }) => next !== null), dead: dead.map(jobOf) }
}

/** In a transaction: until it ends, no other claim takes from these queues. */
export async function lockQueues(connection: PostgresConnection, names: readonly string[]): Promise<void> {
  await connection.rows('SELECT 1 FROM queue WHERE name = ANY ($1::text[]) ORDER BY name FOR NO KEY UPDATE', [
    names,
  ])
}

/** Takes jobs of these queues, in turns. */
export async function takeJobs(
  connection: PostgresConnection,
  queues: readonly DueQueue[],
  claim: Claim,
  now: number,
): Promise<Job[]> {
  const jobs: Job[] = []
  let open = queues.map((queue) => ({ ...queue }))
  while (jobs.length < claim.limit) {
    const turns = shareOut(open, claim.limit - jobs.length)
    if (turns.length === 0) break
    const taken = await take(connection, turns, claim, now)
    const left = new Map(open.map((queue) => [queue.name, queue]))
    for (const name of turns) {
      const queue = left.get(name)
      const job = taken.get(name)?.shift()
      if (job !== undefined && queue !== undefined) {
        jobs.push(job)
        queue.running += 1
        queue.room -= 1
      } else left.delete(name)
    }
    open = [...left.values()]
  }
  return jobs
}

/** Names of queues, one for each job to take: the one with the fewest running, then what waits longest. */
export function shareOut(queues: readonly DueQueue[], limit: number): string[] {
  const open = queues.map(({ name, since, room, running }) => ({ name, since, room, running }))
  const turns: string[] = []
  while (turns.length < limit) {
    const next = open
      .filter(({ room }) => room > 0)
      .reduce<(typeof open)[number] | undefined>((best, queue) => {
        if (best === undefined || queue.running < best.running) return queue
        return queue.running === best.running && queue.since < best.since ? queue : best
      }, undefined)
    if (next === undefined) break
    turns.push(next.name)
    next.running += 1
    next.room -= 1
  }
  return turns
}

async function take(
  connection: PostgresConnection,
  turns: readonly string[],
  claim: Claim,
  now: number,
): Promise<Map<string, Job[]>> {
  const shares = Map.groupBy(turns, (name) => name)
  // The array makes PostgreSQL look for the rows once; a plain IN may do it again for each row, and lock more.
  const rows = await connection.rows(
    `UPDATE job SET state = 'running', owner = $3, attempt = attempt + 1, started = $4, updated = $4, lease_until = $5, version = version + 1
     WHERE id = ANY (ARRAY(
       SELECT first.id FROM unnest($1::text[], $2::integer[]) AS share (name, most) CROSS JOIN LATERAL (
         SELECT id FROM job WHERE queue = share.name AND ${WAITING} AND run_at <= $4
         ORDER BY priority DESC, run_at, id LIMIT share.most FOR UPDATE SKIP LOCKED) AS first))
     RETURNING id, ${jobColumns}`,
    [
      [...shares.keys()],
      [...shares.values()].map(({ length }) => length),
      claim.owner,
      now,
      now + claim.leaseMs,
    ],
  )
  const taken = rows
    .map((row) => ({ id: numberOf(row, 'id'), job: jobOf(row) }))
    .sort((a, b) => b.job.priority - a.job.priority || a.job.runAt - b.job.runAt || a.id - b.id)
    .map(({ job }) => job)
  return Map.groupBy(taken, ({ queue }) => queue)
}
