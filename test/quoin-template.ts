import { randomFillSync } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Needs } from '../src/storage/document-index.ts'
import type { DatabaseTemplate } from './temporary-database.ts'

/**
 * A database with the tables and all of Quoin's own storages, and nothing in them: as before the first start in every
 * other way. A copy of it saves the hundred transactions of a first start, with those of background jobs: offline, the
 * storages of schedules would be missing, and each server made them with ten indexes.
 */
export const quoinTemplate: DatabaseTemplate = {
  name: 'quoin',
  async fill(url) {
    await firstStart({ DATABASE_URL: url })
    await empty(url)
  },
}

/** What each storage of a new cluster has. `settings`: where that cluster has its data, beside a folder that goes again. */
async function firstStart(settings: Readonly<Record<string, string>>): Promise<Map<string, Needs>> {
  // Here, because most of those who want a copy need nothing of Quoin but its storage.
  const { openQuoin } = await import('../src/quoin/quoin.ts')
  const { readOptions } = await import('../src/options/options.ts')
  const directory = await mkdtemp(join(tmpdir(), 'quoin-template-'))
  try {
    const options = readOptions({
      ...{ QUOIN_DATA: directory, QUOIN_PORT: '0', QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent' },
      ...settings,
    })
    const quoin = await openQuoin(options, { clock: Date.now, random: randomFillSync, synchronous: 'OFF' })
    const { database } = quoin
    const needs = new Map(database.names().map((name) => [name, database.capabilities.indexes.of(name)]))
    await quoin.close()
    return needs
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The file of the embedded engine, which a process makes once. */
let file: Promise<Buffer> | undefined

/** Puts into the folder what `quoinTemplate` is on PostgreSQL: a third of the processor time of each first start. */
export async function copyQuoinFile(directory: string): Promise<void> {
  file ??= makeFile()
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, 'quoin.db'), await file, { mode: 0o600 })
}

async function makeFile(): Promise<Buffer> {
  const { openSqliteDatabase } = await import('../src/storage/sqlite/core/sqlite-database.ts')
  const needs = await firstStart({})
  const directory = await mkdtemp(join(tmpdir(), 'quoin-template-'))
  try {
    const common = { clock: Date.now, random: randomFillSync, entity: 1 }
    const database = await openSqliteDatabase({ ...common, directory, synchronous: 'OFF' })
    for (const [name, { indexes = [], text = false }] of needs) await database.ensure(name, { indexes, text })
    await database.close()
    return await readFile(join(directory, 'quoin.db'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** A database with the tables of the storage alone: 0.2 s of processor time less for each test that has one of its own. */
export const storageTemplate: DatabaseTemplate = {
  name: 'storage',
  async fill(url) {
    const { openNode } = await import('./postgres/open-node.ts')
    await (await openNode(url)).close()
    await empty(url)
  },
}

/** Takes the first administrator out again, and what was noted of it. */
async function empty(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`SELECT 'doc_' || id AS name FROM storage`)
    const tables = [...rows.map(({ name }) => name), 'text_total', 'node', 'change', 'job', 'queue']
    await client.query(`TRUNCATE ${tables.join(', ')}`)
    await client.query('UPDATE change_counter SET number = 0')
  } finally {
    await client.end()
  }
}
