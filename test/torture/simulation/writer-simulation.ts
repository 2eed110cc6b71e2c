/**
 * The group commit of the embedded engine (`sqlite-writer.ts`) on a real SQLite file: sessions that come at random, take
 * long, give up, write what a unique index refuses and undo, beside statements that fail and a kill at any moment.
 *
 * What must hold: an acknowledged segment can be read by another connection at the moment of its acknowledgement, and
 * after the end. A segment that was undone, lost or rejected has left nothing, and one that was kept is never there in
 * part. One that was kept is rejected only if its whole transaction was hurt. Turns come in the order in which they were
 * asked for, and one at a time.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { numberOf, SqliteConnection } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import { SqliteWriter } from '../../../src/storage/sqlite/core/sqlite-writer.ts'
import { type RandomSource, randomSource } from '../random-source.ts'
import { FaultyConnection } from './faulty-connection.ts'
import { type Diary, type Outcome, openDiary } from './outcome.ts'
import { newOwner, type Owner, VirtualTime } from './virtual-time.ts'
import { type Fate, runAlone, runSegment } from './writer-segment.ts'

/** What segments ask of a writer: a control puts a broken one in between. */
export type Writing = Pick<SqliteWriter, 'take' | 'giveUp' | 'operate' | 'keep' | 'undo' | 'alone'>

export interface WriterWorld {
  readonly time: VirtualTime
  readonly process: Owner
  readonly dice: RandomSource
  readonly diary: Diary
  readonly writer: Writing
  readonly connection: FaultyConnection
  /** Rows of the segment that another connection sees. */
  visible(segment: number): number
  /** Told when a segment has its turn; the numbers are those of `asked`. */
  granted(turn: number): void
  /** Told when a segment of the transaction was kept: from the next turn of the loop on no other segment gets into it. */
  kept(group: number): void
  /** The place in line. */
  asked(): number
}

const LONGEST = 120_000

/** `wrap`: what to put in between, for a control. */
export async function simulateWriter(
  seed: number,
  directory: string,
  wrap: (writer: SqliteWriter) => Writing = (writer) => writer,
): Promise<Outcome> {
  const dice = randomSource(seed, 'writer')
  const time = new VirtualTime(dice)
  const diary = openDiary(() => time.now)
  const process = newOwner()
  const path = join(directory, 'writer.db')
  prepare(path)
  const connection = new FaultyConnection(path, dice, dice.oneOf([0, 0, 0.01, 0.05, 0.2]))
  const reader = new SqliteConnection({ path, readOnly: true, synchronous: 'OFF' })
  const writer = new SqliteWriter(connection, undefined, time.timers(process))
  const visible = (from: SqliteConnection) => (segment: number) =>
    numberOf(from.get('SELECT count(*) AS n FROM entry WHERE segment = ?', segment) ?? {}, 'n')
  let asked = 0
  let last = 0
  const due = new Map<number, number>()
  const world: WriterWorld = {
    time,
    process,
    dice,
    diary,
    writer: wrap(writer),
    connection,
    visible: visible(reader),
    asked: () => ++asked,
    granted(turn) {
      diary.check(turn > last, `turn ${turn} came after turn ${last}`)
      last = turn
      const { group } = connection
      const late = time.now - (due.get(group) ?? time.now)
      diary.check(late === 0, `turn ${turn} put a COMMIT off that was due ${late} ms before`)
    },
    kept: (group) => void (due.has(group) || due.set(group, time.now)),
  }
  const fates = Array.from({ length: dice.between(5, 40) }, (_, segment) =>
    dice.chance(0.05) ? runAlone(world, segment) : runSegment(world, segment),
  )
  const killed = dice.chance(0.5)
  const started = time.now
  await time.run(started + (killed ? dice.between(0, 200) : LONGEST))
  if (!killed) {
    const open = fates.filter(({ is }) => is === 'open').length
    diary.check(open === 0, `${open} segments never ended`)
    const closed = writer.close()
    await time.run(time.now + LONGEST)
    await closed
  }
  process.gone = true
  reader.close()
  if (connection.database.isOpen) connection.close()
  const after = new SqliteConnection({ path, readOnly: true, synchronous: 'OFF' })
  for (const [segment, fate] of fates.entries())
    checkFate(diary, fate, `segment ${segment}`, visible(after)(segment))
  after.close()
  diary.note(JSON.stringify(fates))
  return diary.outcome(time.steps)
}

function checkFate(diary: Diary, fate: Fate, name: string, there: number): void {
  const { is, written } = fate
  const whole = there === written || there === 0
  diary.check(whole, `${name} is there in part: ${there} of ${written} rows`)
  if (is === 'acknowledged') diary.check(there === written, `${name} was acknowledged and is gone`)
  else if (is !== 'kept') diary.check(there === 0, `${name} is ${is} and has left ${there} rows`)
  if (is === 'acknowledged' || is === 'rejected')
    diary.check(fate.settled === 1, `${name} was settled ${fate.settled} times`)
  if (is === 'rejected') diary.check(fate.hurt, `${name} was rejected although nothing hurt its transaction`)
  if (is === 'lost') diary.check(fate.failed || fate.hurt || fate.late, `${name} was undone without a reason`)
}

function prepare(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  const connection = new SqliteConnection({ path, readOnly: false, synchronous: 'OFF' })
  connection.exec('CREATE TABLE entry (segment INTEGER NOT NULL, word TEXT NOT NULL) STRICT')
  // On an expression, as the indexes of documents are: SQLite names only those in its message.
  connection.exec('CREATE UNIQUE INDEX entry_word ON entry (lower(word))')
  connection.close()
}
