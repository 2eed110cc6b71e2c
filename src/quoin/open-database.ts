import { hostname } from 'node:os'
import type { RawDatabase } from '../storage/ruled.ts'
import { openDatabase } from './database-engine.ts'
import type { Start } from './start.ts'

export interface NodeDatabase {
  /** Without the rules of fields: for what those rules themselves are read from, and for what is no document. */
  readonly raw: RawDatabase
  readonly node: { readonly name: string; readonly version: string; readonly started: number }
  isDamaged(): boolean
  /** Tells what administrators have to know of the database, from before there was a log and from then on. */
  whenNoticed(listener: (message: string) => void): void
}

/** The database that the settings name. */
export async function openNodeDatabase(start: Start): Promise<NodeDatabase> {
  const { options, clock, random, synchronous, version, opened } = start
  const node = { name: options.node || hostname(), version, started: Math.floor(clock() / 1000) }
  const noticed: string[] = []
  const listeners: ((message: string) => void)[] = []
  let damaged = false
  const database = await openDatabase(options, {
    clock,
    random,
    node,
    synchronous,
    notice(message, isDamaged) {
      damaged ||= isDamaged
      if (listeners.length === 0) noticed.push(message)
      for (const listener of listeners) listener(message)
      // The system log lies in the database that this is about.
      process.stderr.write(`${message}\n`)
    },
  })
  opened.add(() => database.close())
  const whenNoticed = (listener: (message: string) => void) => {
    listeners.push(listener)
    for (const message of noticed.splice(0)) listener(message)
  }
  return { raw: database, node, isDamaged: () => damaged, whenNoticed }
}
