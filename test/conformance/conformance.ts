/**
 * What every engine has to do, as tests. An engine's test file is one call of {@link describeStorage}; what it cannot do
 * is skipped with a reason. The searches themselves are proven by a property test against `evaluate-query.ts`.
 */
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Clock } from '../../src/shared/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import { aggregateChapter } from './aggregates.ts'
import { createAllChapter } from './create-all.ts'
import { cursorChapter } from './cursors.ts'
import { documentChapter } from './documents.ts'
import { jobChapter } from './jobs.ts'
import { numberChapter } from './numbers.ts'
import { queueChapter } from './queues.ts'
import { rankingChapter } from './ranking.ts'
import { referenceChapter } from './references.ts'
import { roundTripChapter } from './round-trip.ts'
import { searchStormChapter } from './search-storms.ts'
import { searchChapter } from './searches.ts'
import { sessionChapter } from './sessions.ts'
import { storageChapter } from './storages.ts'
import { uniqueChapter } from './unique-indexes.ts'
import { uniqueKeyChapter } from './unique-keys.ts'
import { unitChapter } from './units.ts'
import type { World } from './world.ts'

/** A freshly opened, empty database. */
export interface Subject {
  readonly database: Database
  /** The storage's clock: stands still until `now` (milliseconds) is set. */
  readonly clock: Clock & { now: number }
  /** Closes the storage and opens the same data again. */
  reopen(): Promise<Database>
  /** Closes what is open and removes the data. */
  destroy(): Promise<void>
}

export interface Skip {
  readonly reason: string
  /** Names of tests. */
  readonly tests: readonly string[]
}

const chapters = {
  storages: storageChapter,
  'round trip': roundTripChapter,
  documents: documentChapter,
  'many documents': createAllChapter,
  sessions: sessionChapter,
  'units of work': unitChapter,
  'unique indexes': uniqueChapter,
  'unique keys': uniqueKeyChapter,
  numbers: numberChapter,
  references: referenceChapter,
  searches: searchChapter,
  cursors: cursorChapter,
  'searches in a storm': searchStormChapter,
  ranking: rankingChapter,
  aggregates: aggregateChapter,
  jobs: jobChapter,
  queues: queueChapter,
}

export function describeStorage(
  engine: string,
  open: () => Promise<Subject>,
  { skip = [] }: { readonly skip?: readonly Skip[] } = {},
): void {
  const reasons = new Map(skip.flatMap(({ reason, tests }) => tests.map((name) => [name, reason] as const)))
  for (const [title, chapter] of Object.entries(chapters))
    describe(`${engine}: ${title}`, () => {
      let subject: Subject | undefined
      let database: Database | undefined
      let count = 0
      beforeAll(async () => {
        subject = await open()
        database = subject.database
      })
      afterAll(() => subject?.destroy())
      chapter((name, run) => {
        const reason = reasons.get(name)
        if (reason !== undefined) {
          test.skip(`${name} (${reason})`, () => undefined)
          return
        }
        test(name, async () => {
          if (!subject || !database) throw new Error('The storage was not opened.')
          const { clock, reopen } = subject
          const world: World = {
            database,
            clock,
            name: `things_${++count}`,
            async reopen() {
              database = await reopen()
              world.database = database
            },
          }
          await database.ensure(world.name)
          await run(world)
        })
      })
    })
}
