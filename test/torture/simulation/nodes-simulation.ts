/**
 * Queue workers and schedulers of several nodes on one database, in virtual time: nodes are killed, stopped and cut off,
 * their clocks are apart, replies and wake-ups are late, lost or doubled. Then it is calm, and everything has to end.
 */

import { matchAll, search } from '../../../src/shared/query.ts'
import { objectsIn } from '../../../src/storage/document-fields.ts'
import type { Job } from '../../../src/storage/job.ts'
import { jobColumns } from '../../../src/storage/job-row.ts'
import type { SqliteConnection } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import { SqliteDatabase } from '../../../src/storage/sqlite/core/sqlite-database.ts'
import { jobOf } from '../../../src/storage/sqlite/jobs/sqlite-jobs-claim.ts'
import { systemStorages } from '../../../src/storage/system-storages.ts'
import { randomSource } from '../random-source.ts'
import { checkJobs } from './check-jobs.ts'
import { checkTicks } from './check-ticks.ts'
import { readHistory } from './job-history.ts'
import { enqueueSome, harm, heal, someSchedules } from './nodes-storm.ts'
import type { NodesTemplate } from './nodes-template.ts'
import { type Outcome, openDiary } from './outcome.ts'
import { type Breakage, type NodesWorld, startNode } from './simulated-node.ts'
import { newOwner, VirtualTime } from './virtual-time.ts'

const STORM_MS = 12_000
/** All nodes are well: time enough to fire what is due. */
const CALM_MS = 5_000
const LONGEST_MS = 600_000
/** Ticks of the last seconds may still wait or run at the end. */
const YOUNG_MS = 8_000

export async function simulateNodes(
  seed: number,
  template: NodesTemplate,
  breakage: Breakage = {},
): Promise<Outcome> {
  const dice = randomSource(seed, 'nodes')
  const time = new VirtualTime(dice)
  const diary = openDiary(() => time.now)
  const database = newOwner()
  const clock = () => time.now
  const parts = await template.open({ clock, random: dice.bytes, timers: time.timers(database) })
  const plain = new SqliteDatabase(parts)
  const schedules = someSchedules(dice, time.now)
  const world: NodesWorld = {
    time,
    dice,
    parts,
    database: breakage.storage?.(plain) ?? plain,
    notes: { ends: [], failures: [] },
    worked: new Set(),
    nodes: new Map(),
    schedules,
    breakage,
    note: diary.note,
  }
  const started = time.now
  for (let node = dice.between(1, 4); node > 0; node--) startNode(world)
  const enqueued = enqueueSome(world, STORM_MS)
  harm(world, started + STORM_MS)
  await time.run(started + STORM_MS)
  heal(world)
  await time.run(time.now + CALM_MS)
  const young = () => time.now - YOUNG_MS
  const { connection } = parts.writer
  await time.run(started + LONGEST_MS, () => time.steps % 100 === 0 && isIdle(connection, young()))
  const jobs = allJobs(connection)
  const ticks = (await plain.session().find(systemStorages.ticks, allTicks)).documents.value
  const planned = (await plain.session().find(systemStorages.schedules, allTicks)).documents.value
  const history = readHistory(connection)
  const { notes, worked } = world
  checkJobs(diary, { jobs, ...enqueued, history, notes, worked, until: young() })
  const ahead = Math.max(...[...world.nodes.values()].map(({ skew }) => skew))
  checkTicks(diary, {
    ...{ schedules, jobs, until: time.now + ahead },
    ...{ ticks: objectsIn(ticks), records: objectsIn(planned) },
  })
  for (const node of world.nodes.values()) node.owner.gone = true
  const closed = plain.close()
  await time.run(time.now + LONGEST_MS)
  await closed
  diary.note(JSON.stringify([...jobs.values()]))
  return diary.outcome(time.steps)
}

const allTicks = search({ query: matchAll, limit: 10_000 })

function isIdle(connection: SqliteConnection, young: number): boolean {
  const open = connection.get(
    `SELECT 1 FROM job WHERE state IN ('waiting', 'running') AND NOT (kind = 'tick' AND run_at > ?) LIMIT 1`,
    young,
  )
  return open === undefined
}

function allJobs(connection: SqliteConnection): Map<string, Job> {
  const jobs = connection.all(`SELECT ${jobColumns} FROM job ORDER BY id`).map(jobOf)
  return new Map(jobs.map((job) => [job.guid, job]))
}
