/** A database as the nodes of a simulation find it, made once and copied for each interleaving. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ScheduleLedger } from '../../../src/queue/schedule-ledger.ts'
import { SqliteDatabase } from '../../../src/storage/sqlite/core/sqlite-database.ts'
import {
  openSqliteParts,
  type SqliteOptions,
  type SqliteParts,
} from '../../../src/storage/sqlite/core/sqlite-parts.ts'
import { seededRandom } from '../../seeded-random.ts'
import { historySql } from './job-history.ts'

const entity = 1

export interface NodesTemplate {
  open(options: Pick<SqliteOptions, 'clock' | 'random' | 'timers'>): Promise<SqliteParts>
}

export async function nodesTemplate(folder: string): Promise<NodesTemplate> {
  const made = join(folder, 'template')
  const parts = await openSqliteParts({
    directory: made,
    clock: () => Date.UTC(2026, 0, 1),
    random: seededRandom(1),
    entity,
    synchronous: 'OFF',
  })
  await ScheduleLedger.open(new SqliteDatabase(parts))
  await parts.writer.alone(
    (connection) => {
      connection.exec(historySql)
      connection.exec(`INSERT INTO queue (name, concurrency) VALUES ('narrow', 2)`)
    },
    () => undefined,
  )
  await parts.close()
  return {
    open(options) {
      const directory = join(folder, 'run')
      rmSync(directory, { recursive: true, force: true })
      mkdirSync(directory)
      copyFileSync(join(made, 'quoin.db'), join(directory, 'quoin.db'))
      return openSqliteParts({ ...options, directory, entity, synchronous: 'OFF' })
    },
  }
}
