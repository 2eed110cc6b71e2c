import { hostname } from 'node:os'
import type { RawDatabase } from '../storage/ruled.ts'
import { openDatabase } from './database-engine.ts'
import type { Start } from './start.ts'

export interface NodeDatabase {
  /** Without the rules of fields: for what those rules themselves are read from, and for what is no document. */
  readonly raw: RawDatabase
  readonly node: { readonly name: string; readonly version: string; readonly started: number }
  isDamaged(): boolean
  /** What administrators have to know of the database's files, from before there was a log. */
  readonly noticed: readonly string[]
}

/** The database that the settings name. */
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
  return { raw: database, node, isDamaged: () => damaged, noticed }
}
