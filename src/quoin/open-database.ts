import { hostname } from 'node:os'
import { guidSource } from '../shared/guid.ts'
import { pooledRandom } from '../shared/pooled-random.ts'
import type { RawDatabase } from '../storage/ruled.ts'
import type { Workers } from '../workers/workers.ts'
import { noteDamage, openDatabase } from './database-engine.ts'
import type { Start } from './start.ts'

export interface NodeDatabase {
  /** Without the rules of fields: for what those rules themselves are read from, and for what is no document. */
  readonly raw: RawDatabase
  /** The processes that read beside this one; undefined with one process. */
  readonly workers: Workers | undefined
  readonly node: { readonly name: string; readonly version: string; readonly started: number }
  isDamaged(): boolean
  /** What administrators have to know of the database's files, from before there was a log. */
  readonly noticed: readonly string[]
  /** Sets what is done when a process that reads was lost. */
  whenReaderLost(settle: () => Promise<void>): void
}

/** The database that the settings name, and the processes that read beside this one. */
export async function openNodeDatabase(start: Start): Promise<NodeDatabase> {
  const { options, clock, random, synchronous, version, opened } = start
  const node = { name: options.node || hostname(), version, started: Math.floor(clock() / 1000) }
  const noticed: string[] = []
  let damaged = false
  const database = await openDatabase(options, {
    clock,
    random,
    node,
    synchronous,
    notice(message, isDamaged) {
      damaged ||= isDamaged
      noticed.push(message)
      // The system log lies in the database that this is about.
      process.stderr.write(`${message}\n`)
    },
  })
  opened.add(() => database.close())
  let settle: (() => Promise<void>) | undefined
  const lost = () => void settle?.().catch(() => undefined)
  const workers = await openReadingProcesses(start, database, node, lost)
  return {
    raw: workers?.database ?? database,
    workers,
    node,
    isDamaged: () => damaged,
    noticed,
    whenReaderLost(then) {
      settle = then
    },
  }
}

async function openReadingProcesses(
  { options, clock, random, offline }: Start,
  database: RawDatabase,
  node: NodeDatabase['node'],
  readerLost: () => void,
): Promise<Workers | undefined> {
  if (options.workers === 1 || offline) return undefined
  const { openWorkers } = await import('../workers/workers.ts')
  return openWorkers({
    database,
    options,
    clock,
    newGuid: guidSource(clock, pooledRandom(random)),
    node,
    program: new URL('./reader-process.ts', import.meta.url),
    readerLost,
    damaged: (reason) => noteDamage(database, reason),
  })
}
