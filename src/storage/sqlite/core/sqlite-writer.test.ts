import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { commitFrames } from '../../../../test/commit-frames.ts'
import {
  bodyOf,
  create,
  failure,
  metaOf,
  set,
  stored,
  turns,
} from '../../../../test/conformance/expectations.ts'
import { testClock } from '../../../../test/test-database.ts'
import { isPromise } from '../../../shared/maybe-promise.ts'
import { matchAll, search } from '../../../shared/query.ts'
import type { StoredJson } from '../../stored-json.ts'
import { transact } from '../../transact.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from './sqlite-parts.ts'
import { HOLD_LIMIT, LONG_RESTS } from './sqlite-writer.ts'
import { type WriterMode, writerTransitions } from './writer-mode.ts'

let directory: string
let parts: SqliteParts
let database: SqliteDatabase

async function open(): Promise<void> {
  parts = await openSqliteParts({
    directory,
    clock: testClock(),
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  database = new SqliteDatabase(parts)
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await open()
  await database.ensure('things')
})

afterEach(async () => {
  vi.useRealTimers()
  await database.close()
  await rm(directory, { recursive: true })
})

function count(): number | Promise<number> {
  return database.session().count('things', matchAll)
}

/** The document, which must be there now. */
function atOnce(made: StoredJson | Promise<StoredJson>): StoredJson {
  if (isPromise(made)) throw new Error('The writer is not free.')
  return made
}

describe('commits that come together', () => {
  const transactions = async (work: () => Promise<unknown>) => {
    const log = join(directory, 'quoin.db-wal')
    const before = await commitFrames(log)
    await work()
    return (await commitFrames(log)) - before
  }

  test('32 of one turn are one transaction', async () => {
    const made = await transactions(() =>
      Promise.all(
        Array.from({ length: 32 }, () => {
          const session = database.session()
          atOnce(session.create('things', set({ a: 1 })))
          return session.transaction.commit()
        }),
      ),
    )
    expect([made, await count()]).toEqual([1, 32])
  })

  test('so are 32 that wait for each other, and the rolled back among them leave nothing', async () => {
    // However busy the machine is: those that take longer share no transaction.
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const made = await transactions(() =>
      Promise.allSettled(
        Array.from({ length: 32 }, (_, index) =>
          transact(database, async (session) => {
            await session.create('things', set({ a: 1 }))
            await session.create('things', set({ b: 1 }))
            if (index % 2 === 0) throw new RangeError('no')
          }),
        ),
      ),
    )
    now.mockRestore()
    expect([made, await count()]).toEqual([1, 32])
  })

  const oneMore = () => {
    const session = database.session()
    atOnce(session.create('things', set({ a: 1 })))
    return session.transaction.commit()
  }
  const loopTurn = () => new Promise((resolve) => setImmediate(resolve))

  test('a lone one is there after one turn of the loop, and who comes later has a transaction of its own', async () => {
    const made = await transactions(async () => {
      let committed = false
      const first = Promise.resolve(oneMore()).then(() => {
        committed = true
      })
      await loopTurn()
      expect(committed).toBe(true)
      await Promise.all([first, oneMore()])
    })
    expect([made, await count()]).toEqual([2, 2])
  })

  test.each([
    { more: 5, turns: 25, transactionsMade: 2 },
    { more: 2, turns: 25, transactionsMade: 25 },
  ])('$more more in each of $turns turns of the loop are $transactionsMade', async (these) => {
    const made = await transactions(async () => {
      const commits: unknown[] = []
      for (let turn = 0; turn < these.turns; turn++) {
        for (let number = 0; number < these.more; number++) commits.push(oneMore())
        await loopTurn()
      }
      await Promise.all(commits)
    })
    expect([made, await count()]).toEqual([these.transactionsMade, these.more * these.turns])
  })

  test('what was due while another session had the writer is committed before the next one begins', async () => {
    const made = await transactions(async () => {
      const first = oneMore()
      const holder = database.session()
      atOnce(holder.create('things', set({ a: 1 })))
      await loopTurn()
      await loopTurn()
      const waiting = transact(database, (session) => session.create('things', set({ a: 1 })))
      await Promise.all([first, holder.transaction.commit(), waiting])
    })
    expect([made, await count()]).toEqual([2, 3])
  })

  test('three one after the other are three; reads, rollbacks and writes of nothing are none', async () => {
    const made = await transactions(async () => {
      for (let index = 0; index < 3; index++) await create(database, 'things', { a: 1 })
      const session = database.session()
      await session.find('things', search())
      await session.create('things', [])
      await session.transaction.rollback()
      await session.update('things', 'nobody', set({ a: 1 }))
      await session.transaction.commit()
    })
    expect([made, await count()]).toEqual([3, 3])
  })
})

describe('turns', () => {
  test('a lone writer has everything at once but the commit', async () => {
    const session = database.session()
    const guid = metaOf(atOnce(session.create('things', set({ a: 1 })))).guid
    expect(isPromise(session.update('things', guid, set({ a: 2 })))).toBe(false)
    expect(isPromise(session.get('things', guid))).toBe(false)
    expect(await count()).toBe(0)
    const committed = session.transaction.commit()
    expect(isPromise(committed)).toBe(true)
    await committed
    expect(await count()).toBe(1)
    expect(session.create('things', [])).not.toBeInstanceOf(Promise)
    expect(session.transaction.rollback()).toBeUndefined()
  })

  test('those who wait get the writer in the order in which they came', async () => {
    const holder = database.session()
    await holder.create('things', set({ n: 0 }))
    const order: number[] = []
    const waiting = [1, 2, 3, 4].map((n) =>
      transact(database, async (session) => {
        const made = session.create('things', set({ n }))
        expect(isPromise(made)).toBe(true)
        await made
        order.push(n)
      }),
    )
    await turns()
    expect(order).toEqual([])
    await Promise.all([holder.transaction.commit(), ...waiting])
    expect(order).toEqual([1, 2, 3, 4])
  })

  test('those who follow each other for long let all else have its turn in between', async () => {
    let [turnsOfLoop, isOver] = [0, false]
    const turn = () => {
      turnsOfLoop += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const writing = (at: number) =>
      transact(database, async (session) => {
        await session.create('things', set({ at }))
        const until = performance.now() + 4
        while (performance.now() < until);
        await session.create('things', set({ at }))
      })
    await Promise.all(Array.from({ length: 30 }, (_, at) => writing(at)))
    isOver = true
    expect(turnsOfLoop).toBeGreaterThan(5)
    expect(await count()).toBe(60)
  })

  test('two operations of one session wait for one turn, and both are done before its commit', async () => {
    const holder = database.session()
    await holder.create('things', [])
    const session = database.session()
    const both = [session.update('things', 'nobody', []), session.create('things', set({ n: 1 }))]
    const committed = session.transaction.commit()
    await holder.transaction.rollback()
    await Promise.all([...both, committed])
    expect(await count()).toBe(1)
  })

  test('a rollback while a write waits takes the write back', async () => {
    const holder = database.session()
    await holder.create('things', [])
    const session = database.session()
    const refused = failure('UNAVAILABLE', () => session.create('things', []))
    await turns()
    await session.transaction.rollback()
    await refused
    // Once more, when the turn has just been given and the write has not yet begun.
    const late = failure('UNAVAILABLE', () => session.create('things', []))
    const ended = holder.transaction.commit()
    const undone = session.transaction.rollback()
    await Promise.all([late, ended, undone])
    expect(await count()).toBe(1)
    atOnce(holder.create('things', []))
    await holder.transaction.rollback()
  })

  test('a commit is not told, and not to be seen, while another session keeps the group open', async () => {
    const [first, second] = [database.session(), database.session()]
    await first.create('things', set({ a: 1 }))
    let reported = false
    const committed = Promise.resolve(first.transaction.commit()).then(() => {
      reported = true
    })
    atOnce(second.create('things', set({ b: 1 })))
    await turns()
    expect([reported, await count(), database.capabilities.changes.version('things')]).toEqual([false, 0, 0])
    await second.transaction.rollback()
    await committed
    expect([reported, await count(), database.capabilities.changes.version('things')]).toEqual([true, 1, 1])
  })

  test('who has seen what is not on disk yet waits for it too', async () => {
    const guid = await create(database, 'things', { a: 1 })
    const [first, second] = [database.session(), database.session()]
    await first.delete('things', guid)
    let reported = false
    const committed = Promise.resolve(first.transaction.commit()).then(() => {
      reported = true
    })
    expect(await second.update('things', guid, set({ a: 2 }))).toEqual({ outcome: 'not_found' })
    const seen = second.transaction.commit()
    expect(isPromise(seen)).toBe(true)
    await seen
    expect(reported).toBe(true)
    await committed
  })
})

describe('a session that keeps the writer too long', () => {
  test('is undone, hears of it until it rolls back, and the next one writes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await database.close()
    await open()
    const slow = database.session()
    const guid = metaOf(await slow.create('things', set({ slow: 1 }))).guid
    const next = create(database, 'things', { next: 1 })
    vi.advanceTimersByTime(HOLD_LIMIT - 1)
    await turns()
    expect(await slow.get('things', guid)).toBeDefined()
    vi.advanceTimersByTime(1)
    await next
    for (let call = 0; call < 2; call++) {
      await failure('UNAVAILABLE', () => slow.get('things', guid))
      await failure('UNAVAILABLE', () => slow.create('things', []))
    }
    await failure('UNAVAILABLE', () => slow.transaction.commit())
    await slow.create('things', set({ again: 1 }))
    await slow.transaction.commit()
    const found = await slow.find('things', search({ sort: [] }))
    expect(found.documents.value).toMatchObject([{ again: 1 }, { next: 1 }])
  })
})

describe('long work of the system', () => {
  const rest = async (limits: number) => {
    for (let limit = 0; limit < limits; limit++) {
      vi.advanceTimersByTime(HOLD_LIMIT)
      await turns()
    }
  }
  test('has the writer for as long as it does something, and is undone when it rests for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await database.close()
    await open()
    const long = database.session({ isLong: true })
    for (let at = 0; at < 3; at++) {
      await long.create('things', set({ long: at }))
      await rest(LONG_RESTS - 1)
    }
    await long.transaction.commit()
    const resting = database.session({ isLong: true })
    await resting.create('things', set({ resting: 1 }))
    await rest(LONG_RESTS)
    await failure('UNAVAILABLE', () => resting.transaction.commit())
    const count = (field: string) => resting.count('things', { kind: 'exists', field })
    expect([await count('long'), await count('resting')]).toEqual([3, 0])
  })
})

test('a unit that has read what a failed commit has undone stores nothing', async () => {
  const { connection } = parts.writer
  connection.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
  const guid = await create(database, 'things', { n: 1 })
  const [first, unit] = [database.session(), database.session({ unit: { attempt: 1 } })]
  await first.update('things', guid, set({ n: 2 }))
  // Its commit is refused by SQLite.
  connection.exec('INSERT INTO child VALUES (1)')
  const refused = expect(first.transaction.commit()).rejects.toThrow('FOREIGN KEY')
  expect(bodyOf(await unit.get('things', guid))).toEqual({ n: 2 })
  await refused
  expect(() => unit.update('things', guid, set({ seen: 2 }))).toThrow(SerializationConflict)
  expect(await stored(database, 'things', guid)).toEqual({ n: 1 })
})

describe('a full disk', () => {
  const big = set({ text: 'x'.repeat(50_000) })
  const limit = (pages: number) => parts.writer.connection.exec(`PRAGMA max_page_count = ${pages}`)
  const used = () => Number(parts.writer.connection.get('PRAGMA page_count')?.page_count)

  test('takes nothing of the group, rejects every session in it, and is over when there is space', async () => {
    await database.ensure('things', { indexes: [{ fields: ['tags'] }], text: true })
    const guid = await create(database, 'things', { tags: 'red' })
    const version = database.capabilities.changes.version('things')
    limit(used() + 20)
    const [first, second] = [database.session(), database.session()]
    await first.update('things', guid, set({ tags: ['red', 'blue'] }))
    const refused = failure('STORAGE_FULL', () => first.transaction.commit())
    atOnce(second.create('things', []))
    await failure('STORAGE_FULL', async () => {
      for (let index = 0; index < 10; index++) await second.create('things', big)
    })
    await refused
    await failure('STORAGE_FULL', () => second.get('things', guid))
    await failure('STORAGE_FULL', () => second.transaction.commit())
    await failure('STORAGE_FULL', () =>
      transact(database, (session) => session.create('things', set({ x: 'x'.repeat(200_000) }))),
    )
    expect(await stored(database, 'things', guid)).toEqual({ tags: 'red' })
    expect([await count(), database.capabilities.changes.version('things')]).toEqual([1, version])
    limit(100_000)
    await transact(database, (session) => session.update('things', guid, set({ tags: ['red', 'blue'] })))
    await transact(database, (session) => session.create('things', big))
    // What the refused write had added to the shape must be in the database too: without it the search would be wrong.
    await database.close()
    await open()
    const blue = { kind: 'term', field: 'tags', value: 'blue' } as const
    expect(await database.session().count('things', blue)).toBe(1)
    expect(parts.writer.connection.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
  })

  test('stops an index with nothing left of it', async () => {
    await transact(database, async (session) => {
      for (let n = 0; n < 2_000; n++) await session.create('things', set({ n: `${n}`.padStart(200, 'x') }))
    })
    limit(used() + 5)
    const needs = { indexes: [{ fields: ['n'] }] }
    await failure('STORAGE_FULL', () => database.ensure('things', needs))
    await create(database, 'things', { n: 'small' })
    limit(100_000)
    await database.ensure('things', needs)
    expect(await database.session().count('things', { kind: 'term', field: 'n', value: 'small' })).toBe(1)
  })
})

describe('the mode of the writer', () => {
  const stranger = { granted: () => undefined, lost: () => undefined, settled: () => undefined }
  const hurt = () =>
    parts.writer.operate(stranger, () => {
      throw new Error('A statement failed.')
    })

  test('a segment without the turn cannot end one: the writer says that it has no such step', () => {
    expect(hurt).toThrow(
      expect.objectContaining({ code: 'INTERNAL', message: 'The writer cannot go from idle to idle.' }),
    )
  })

  test('control: the segment with the turn can, and the next one gets it', () => {
    const next = { ...stranger, granted: vi.fn() }
    parts.writer.take(stranger)
    void parts.writer.take(next)
    expect(next.granted).not.toHaveBeenCalled()
    expect(hurt).toThrow('A statement failed.')
    expect(next.granted).toHaveBeenCalledOnce()
    parts.writer.undo(next)
    expect(parts.writer.idle).toBe(true)
  })

  test('what comes when the writer is closed is refused and waits for nothing', async () => {
    await database.close()
    await failure('UNAVAILABLE', () =>
      parts.writer.alone(
        () => undefined,
        () => undefined,
      ),
    )
    expect(() => parts.writer.take(stranger)).toThrow('The storage is being closed.')
    await open()
  })

  test('the table leads to each mode from idle, and from each back to idle, but from closed', () => {
    const reached = (from: WriterMode): Set<WriterMode> => {
      const seen = new Set<WriterMode>()
      const look = (mode: WriterMode) => {
        for (const to of writerTransitions[mode]) {
          if (seen.has(to)) continue
          seen.add(to)
          look(to)
        }
      }
      look(from)
      return seen
    }
    const modes: readonly WriterMode[] = ['idle', 'gathering', 'held', 'due', 'apart']
    for (const mode of modes) expect([...reached(mode)].sort()).toEqual([...modes, 'closed'].sort())
    expect([...reached('closed')]).toEqual([])
  })
})
