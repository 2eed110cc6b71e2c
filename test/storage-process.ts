/**
 * A process that writes to a SQLite storage until it is ended, for tests that end it without warning or take its disk
 * away. Prints one line for each thing it knows. Arguments: the directory and one of
 * - `acknowledge`: `+ <guid> <guid>` after each commit of a transaction that makes two documents.
 * - `acknowledge-early`: the same before the commit: what a storage must not do. The control of the crash test.
 * - `unique`: `+ <guid> <guid>` after each commit of a transaction that changes documents with a unique key in every way.
 * - `fill`: `+ <guid> <guid>` after each commit, `- <code>` for each refused one, until three were refused.
 * - `hold`: opens the storage, prints `open`, and stays.
 * - `open`: opens it, prints `open` or `- <code> <message>`, and ends.
 */
import { randomFillSync } from 'node:crypto'
import { writeSync } from 'node:fs'
import { QuoinError } from '../src/shared/errors.ts'
import { type Database, documentOf, type Session } from '../src/storage/database.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import type { StoredJson } from '../src/storage/stored-json.ts'

const [directory = '', mode = ''] = process.argv.slice(2)

/** Written at once: what was printed counts as said, also when the process is ended in the next moment. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

function guidOf(stored: StoredJson): string {
  return (documentOf(stored)._meta as { guid: string }).guid
}

async function writePair(session: Session, size: number): Promise<string> {
  const pair = crypto.randomUUID()
  const fields = [
    { op: 'set', field: 'pair', value: pair },
    { op: 'set', field: 'text', value: 'some words '.repeat(size) },
  ] as const
  const first = await session.create('pairs', fields)
  // Between the two a turn of the event loop may pass, and so may the end of the process.
  if (Math.random() < 0.2) await new Promise((resolve) => setImmediate(resolve))
  const second = await session.create('pairs', fields)
  return `+ ${guidOf(first)} ${guidOf(second)}`
}

async function writeForEver(database: Database, early: boolean): Promise<never> {
  for (;;) {
    const session = database.session()
    const line = await writePair(session, 20)
    if (early) say(line)
    await session.transaction.commit()
    if (!early) say(line)
  }
}

async function changeForEver(database: Database): Promise<never> {
  const made: string[] = []
  const some = () => made[Math.floor(Math.random() * made.length)] ?? ''
  const sku = () => ({ op: 'set', field: 'sku', value: Math.floor(Math.random() * 300) }) as const
  for (;;) {
    const session = database.session()
    try {
      const guid = guidOf(await session.create('keyed', [sku()]))
      await session.update('keyed', some(), [sku()])
      await session.setRemoved('keyed', some(), true)
      if (Math.random() < 0.2) await new Promise((resolve) => setImmediate(resolve))
      await session.setRemoved('keyed', some(), false)
      await session.delete('keyed', some())
      await session.transaction.commit()
      made.push(guid)
      say(`+ ${guid} ${guid}`)
    } catch (error) {
      if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
      // Some keep what was done before the refusal, as a flow does that goes on at conflict.
      await (Math.random() < 0.5 ? session.transaction.commit() : session.transaction.rollback())
    }
  }
}

async function fill(database: Database): Promise<void> {
  for (let refused = 0; refused < 3; ) {
    const session = database.session()
    try {
      const line = await writePair(session, 10_000)
      await session.transaction.commit()
      say(line)
    } catch (error) {
      refused++
      say(`- ${error instanceof QuoinError ? error.code : String(error)}`)
      await session.transaction.rollback()
    }
  }
  say(`= ${await database.session().count('pairs', { kind: 'all' })}`)
}

try {
  const database = await openSqliteDatabase({
    directory,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
  })
  await database.ensure('pairs', { indexes: [{ fields: ['pair'] }], text: true })
  say('open')
  if (mode === 'fill') await fill(database)
  else if (mode === 'hold') setInterval(() => undefined, 60_000)
  else if (mode === 'unique') {
    await database.ensure('keyed')
    const { uniqueValues } = database.capabilities
    const fields = [{ name: 'sku', ignoreCase: true, ignoreAccents: false }]
    if (uniqueValues.of('keyed').length === 0) await uniqueValues.keep('keyed', { name: 'sku', fields })
    await Promise.all(Array.from({ length: 8 }, () => changeForEver(database)))
  } else if (mode !== 'open') {
    const early = mode === 'acknowledge-early'
    await Promise.all(Array.from({ length: 8 }, () => writeForEver(database, early)))
  }
} catch (error) {
  if (!(error instanceof QuoinError)) throw error
  say(`- ${error.code} ${error.message}`)
}
