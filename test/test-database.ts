import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { FieldRules } from '../src/records/fields/field-rules.ts'
import { validatedDatabase } from '../src/records/fields/validated-database.ts'
import { openPostgresDatabase } from '../src/storage/postgres/core/postgres-database.ts'
import { referencesIn } from '../src/storage/reference/references.ts'
import type { SlowLimits } from '../src/storage/search/search-advisor.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import type { RawDatabase, ValidatedDatabase } from '../src/storage/validated.ts'
import { copyQuoinFile, quoinTemplate } from './quoin-template.ts'
import { openTemporaryDatabase } from './temporary-database.ts'

/** A clock that stands still until a test moves it. Milliseconds since 1970. */
export interface TestClock {
  (): number
  now: number
}

export function testClock(now = Date.UTC(2026, 0, 1)): TestClock {
  const clock: TestClock = Object.assign(() => clock.now, { now })
  return clock
}

export interface TestDatabase {
  readonly database: RawDatabase
  readonly clock: TestClock
  readonly directory: string
  /** Opens the same directory again, after the storage that is open there was closed. */
  reopen(): Promise<RawDatabase>
  /** Closes the storage (the reopened one too) and removes the directory. */
  close(): Promise<void>
}

/** The database as rooms get it that need the rules of fields kept, where no field has a rule. */
export function withoutRules(database: RawDatabase): ValidatedDatabase {
  const rules: FieldRules = {
    none: () => true,
    noPermissions: () => true,
    of: () => [],
    storageRules: () => ({ rules: [], closed: false }),
    known: () => undefined,
    present: () => () => [],
    refer: () => false,
    permissions: () => new Map(),
    references: () => referencesIn([]),
  }
  const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
  return validatedDatabase(database, rules, { clock: Date.now, random })
}

/** A real database of the engine that the suite runs on, without waiting for the disk. */
export async function openTestDatabase(
  limits: { readonly slowSearches?: SlowLimits } = {},
): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  if (!temporary) await copyQuoinFile(directory)
  const clock = testClock()
  const common = { clock, random: randomFillSync, entity: 1, ...limits }
  const open = () =>
    temporary
      ? openPostgresDatabase({
          ...common,
          url: temporary.url,
          connections: 10,
          node: { name: 'test', version: '0.0.0' },
          monotonic: () => performance.now(),
          wall: Date.now,
          load: () => 0,
        })
      : openSqliteDatabase({ ...common, directory, synchronous: 'OFF' })
  const database = await open()
  let last = database
  return {
    database,
    clock,
    directory,
    async reopen() {
      await last.close()
      last = await open()
      return last
    },
    async close() {
      await last.close()
      await temporary?.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
