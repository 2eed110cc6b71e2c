/** What the thread of `index-thread.ts` runs. Not to be imported. */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { IndexFailure, IndexTask } from './index-thread.ts'
import { addFunctions } from './sqlite-connection.ts'

function carryOut({ path, synchronous, statements }: IndexTask): void {
  const database = new DatabaseSync(path, { timeout: 5000 })
  addFunctions(database)
  try {
    database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA cache_size = ${-32 * 1024}; BEGIN IMMEDIATE`)
    for (const { sql, parameters } of statements) database.prepare(sql).run(...parameters)
    database.exec('COMMIT')
  } finally {
    // Rolls back what was not committed.
    database.close()
  }
}

function outcomeOf(task: IndexTask): IndexFailure | undefined {
  try {
    carryOut(task)
    return undefined
  } catch (error) {
    if (!(error instanceof Error)) return { message: String(error), errcode: undefined }
    const errcode = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined
    return { message: error.message, errcode }
  }
}

parentPort?.postMessage(outcomeOf(workerData))
