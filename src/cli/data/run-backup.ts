import { fileCount, summaryOf } from '../../storage/backup/backup-manifest.ts'
import { makeBackup } from '../../storage/backup/make-backup.ts'
import type { Terminal } from '../command.ts'
import { programVersion } from '../program-version.ts'
import { refusePostgres } from './refuse-postgres.ts'

export async function runBackup(folder: string, terminal: Terminal): Promise<number> {
  refusePostgres(terminal, 'backup', 'use pg_dump, and copy the bucket of QUOIN_ASSETS_URL')
  const { data } = terminal.options()
  const manifest = await makeBackup({ data, folder, version: await programVersion(), clock: terminal.clock })
  const { bytes } = summaryOf(manifest)
  terminal.print(`${folder}: ${fileCount(manifest)}, ${bytes.toLocaleString('en-US')} bytes.`)
  return 0
}
