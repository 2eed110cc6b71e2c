import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { DatabaseTemplate } from './temporary-database.ts'

/**
 * A database with the tables and all of Quoin's own storages, and nothing in them: as before the first start in every
 * other way. A copy of it saves the hundred transactions of a first start, with those of background jobs: offline, the
 * storages of schedules would be missing, and each server made them with ten indexes.
 */
export const quoinTemplate: DatabaseTemplate = {
  name: 'quoin',
  async fill(url) {
    // Here, because most of those who want a copy need nothing of Quoin but its storage.
    const { openQuoin } = await import('../src/quoin/quoin.ts')
    const { readOptions } = await import('../src/options/options.ts')
    const directory = await mkdtemp(join(tmpdir(), 'quoin-template-'))
    try {
      const options = readOptions({
        QUOIN_DATA: directory,
        QUOIN_PORT: '0',
        QUOIN_EXAMPLES: '0',
        QUOIN_LOG_LEVEL: 'silent',
        DATABASE_URL: url,
      })
      const quoin = await openQuoin(options, { clock: Date.now, random: randomFillSync })
      await quoin.close()
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
    await empty(url)
  },
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
