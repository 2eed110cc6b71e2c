/**
 * Makes and drops indexes of a large table in a thread of its own, so that this process goes on reading and answering: for
 * 300,000 documents CREATE INDEX takes 0.6 s, in which `node:sqlite` does nothing else. SQLite has one writer at a time,
 * so writes wait meanwhile; who calls this has the writer stand aside, or both would find the database locked.
 */
import { Worker } from 'node:worker_threads'
import { numberOf, type SqliteConnection, type SqlValue } from './sqlite-connection.ts'

export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

export interface IndexTask {
  readonly path: string
  /** As SQLite numbers it. */
  readonly synchronous: number
  readonly statements: readonly Statement[]
}

/** What SQLite said when it failed: errors lose their numbers on the way between threads. */
export interface IndexFailure {
  readonly message: string
  readonly errcode: number | undefined
}

/** All of it in one transaction, or nothing. Rejects with an error that reads as SQLite's own. */
export async function inIndexThread(
  connection: SqliteConnection,
  statements: readonly Statement[],
): Promise<void> {
  const task: IndexTask = {
    path: connection.database.location() ?? '',
    synchronous: numberOf(connection.get('PRAGMA synchronous') ?? {}, 'synchronous'),
    statements,
  }
  const worker = new Worker(new URL('./index-thread-program.ts', import.meta.url), { workerData: task })
  const failure = await new Promise<IndexFailure | undefined>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The thread that makes indexes ended without a word.')))
  })
  if (failure) throw Object.assign(new Error(failure.message), { errcode: failure.errcode })
}
