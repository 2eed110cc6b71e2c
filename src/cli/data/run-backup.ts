import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SECRETS_KEY_FILE } from '../../quoin/secret-key-file.ts'
import { fileCount, summaryOf } from '../../storage/backup/backup-manifest.ts'
import { makeBackup } from '../../storage/backup/make-backup.ts'
import type { Terminal } from '../command.ts'
import { programVersion } from '../program-version.ts'

export async function runBackup(folder: string, withSpaces: boolean, terminal: Terminal): Promise<number> {
  refusePostgres(terminal, 'backup', 'use pg_dump, and copy the bucket of QUOIN_ASSETS_URL')
  const { data } = terminal.options()
  if (!withSpaces) await backUp(data, folder, terminal)
  else {
    if (existsSync(folder)) throw new Error(`${folder} exists. Name a folder that does not.`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await backUp(data, join(folder, 'cluster'), terminal)
    for (const guid of await spacesIn(join(data, 'spaces')))
      await backUp(join(data, 'spaces', guid), join(folder, 'spaces', guid), terminal)
  }
  return 0
}

/** Guids of the spaces that have data. */
async function spacesIn(folder: string): Promise<readonly string[]> {
  const guids = existsSync(folder) ? await readdir(folder) : []
  return guids.filter((guid) => existsSync(join(folder, guid, 'quoin.db'))).toSorted()
}

async function backUp(data: string, folder: string, terminal: Terminal): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  const manifest = await makeBackup({ data, folder, version: await programVersion(), clock: terminal.clock })
  const { bytes } = summaryOf(manifest)
  terminal.print(`${folder}: ${fileCount(manifest)}, ${bytes.toLocaleString('en-US')} bytes.`)
  const key = join(data, SECRETS_KEY_FILE)
  if (existsSync(key))
    terminal.print(
      `The key of secrets, ${key}, is not in the backup. Store it elsewhere: without it the secrets are lost.`,
    )
}

/** Throws where the settings say that the data is in PostgreSQL. `instead`: what to do there. */
export function refusePostgres(terminal: Terminal, command: string, instead: string): void {
  if (terminal.options().databaseUrl === '') return
  throw new Error(
    `${command} is for the embedded engine; DATABASE_URL is set, so the data is in PostgreSQL: ${instead}. For the data folder all the same, run it without DATABASE_URL.`,
  )
}
