import { stat } from 'node:fs/promises'
import type { DatabaseFigures } from '../../capabilities.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'

/** `path`: of the database file. Costs two looks at files. */
export async function sqliteFigures(
  path: string,
  commits: number,
  cache: DatabaseFigures['cache'],
): Promise<DatabaseFigures> {
  return {
    sizeBytes: await sizeOf(path),
    logBytes: await sizeOf(`${path}-wal`),
    commits,
    connections: null,
    cache,
  }
}

/** Where the connection's database lies. */
export function fileOf(connection: SqliteConnection): string {
  return String(connection.get(`SELECT file FROM pragma_database_list WHERE name = 'main'`)?.file ?? '')
}

async function sizeOf(path: string): Promise<number> {
  // Without writes there is no log.
  return (await stat(path).catch(() => undefined))?.size ?? 0
}
