/** One session's segment in the simulation of the writer: what it does, and what it was told. */
import { QuoinError } from '../../../src/shared/errors.ts'
import type { Segment } from '../../../src/storage/sqlite/core/group-commit.ts'
import type { SqliteConnection } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import { HOLD_LIMIT } from '../../../src/storage/sqlite/core/sqlite-writer.ts'
import type { WriterWorld } from './writer-simulation.ts'

export interface Fate {
  /** 'kept': promised, not yet answered. 'open': none of the others yet. */
  is: 'open' | 'kept' | 'acknowledged' | 'rejected' | 'undone' | 'lost' | 'refused'
  /** Rows. */
  written: number
  settled: number
  /** Whether its whole transaction was hurt, a statement of its own failed, or it kept the writer too long. */
  hurt: boolean
  failed: boolean
  late: boolean
  grantedAt: number
}

const newFate = (): Fate => ({
  is: 'open',
  written: 0,
  settled: 0,
  hurt: false,
  failed: false,
  late: false,
  grantedAt: 0,
})

const SLOW = HOLD_LIMIT + 1_000
/** Few, so that two segments often want the same. */
const WORDS = 30

export function runSegment(world: WriterWorld, number: number): Fate {
  const fate = newFate()
  void live(world, number, fate)
  return fate
}

async function live(world: WriterWorld, number: number, fate: Fate): Promise<void> {
  const { time, process, dice, diary, writer, connection } = world
  await time.wait(process, dice.between(0, 100))
  const turn = world.asked()
  let group = 0
  const segment: Segment = {
    granted() {
      world.granted(turn)
      group = connection.group
      fate.grantedAt = time.now
    },
    lost() {
      fate.is = 'lost'
      fate.hurt = connection.hurt.has(group)
      fate.late = time.now - fate.grantedAt >= HOLD_LIMIT
    },
    settled() {
      fate.settled += 1
    },
  }
  try {
    const waiting = writer.take(segment)
    if (waiting && dice.chance(0.1)) {
      void time.wait(process, dice.between(0, 30)).then(() => writer.giveUp(segment, new Error('given up')))
    }
    await waiting
  } catch {
    fate.is = 'refused'
    return
  }
  if (!(await write(world, number, fate, segment))) return
  if (dice.chance(0.2)) {
    // What others of its group wrote may fail; that this one is undone does not.
    fate.is = 'undone'
    const undone: unknown = await Promise.resolve(writer.undo(segment)).catch((error: unknown) => error)
    diary.check(undone === undefined, `undoing segment ${number} failed: ${undone}`)
    return
  }
  let promise: Promise<void>
  try {
    promise = writer.keep(segment)
  } catch {
    // `lost` was called.
    fate.failed = true
    return
  }
  fate.is = 'kept'
  world.kept(group)
  try {
    await promise
    fate.is = 'acknowledged'
    const seen = world.visible(number)
    diary.check(
      seen === fate.written,
      `segment ${number} was acknowledged when ${seen} of its ${fate.written} rows were committed`,
    )
  } catch {
    fate.is = 'rejected'
    fate.hurt = connection.hurt.has(group)
  }
  diary.note(`${number} ${fate.is}`)
}

/** False when it was lost on the way. */
async function write(world: WriterWorld, number: number, fate: Fate, segment: Segment): Promise<boolean> {
  const { time, process, dice, diary, writer } = world
  for (let row = dice.between(1, 4); row > 0; row--) {
    if (dice.chance(0.4)) await time.wait(process, dice.chance(0.05) ? SLOW : dice.between(0, 20))
    if (fate.is !== 'open') return false
    const held = time.now - fate.grantedAt
    diary.check(held <= HOLD_LIMIT, `segment ${number} has kept the writer for ${held} ms`)
    try {
      writer.operate(segment, (connection) => insert(connection, number, `word ${dice.between(1, WORDS)}`))
      fate.written += 1
    } catch {
      // A refused row: the segment goes on. Anything else has undone it, and said so.
      if (isLost(fate)) {
        fate.failed = true
        return false
      }
    }
  }
  return true
}

const isLost = ({ is }: Fate) => is === 'lost'

function insert(connection: SqliteConnection, segment: number, word: string): void {
  if (word.endsWith('13'))
    throw new QuoinError('INVALID_BODY', 'A document that is refused before it is written.')
  connection.run('INSERT INTO entry (segment, word) VALUES (?, ?)', segment, word)
}

/** A transaction of its own, as DDL has it. */
export function runAlone(world: WriterWorld, number: number): Fate {
  const fate = newFate()
  const { time, process, dice, writer } = world
  const go = async () => {
    await time.wait(process, dice.between(0, 100))
    const turn = world.asked()
    let group = 0
    try {
      await writer.alone(
        (connection) => {
          world.granted(turn)
          group = world.connection.group
          insert(connection, number, `alone ${number}`)
          fate.written = 1
        },
        () => {
          fate.settled += 1
        },
      )
      fate.is = 'acknowledged'
    } catch {
      fate.is = 'refused'
      fate.hurt = world.connection.hurt.has(group)
    }
  }
  void go()
  return fate
}
