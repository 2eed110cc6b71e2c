import { command } from '../command.ts'

export const backup = command({
  name: 'backup',
  operands: [{ name: '<folder>', completes: 'folder' }],
  flags: {},
  summary: 'Copies all data into a new folder, also while the server is writing.',
  about: `The folder must not exist. It gets quoin.db, assets/ and manifest.json with a checksum for each file. Until the
backup is complete the folder is called <folder>.partial. The copy contains every write that was acknowledged
before the command started. Run it as the user of the server.
The key of secrets (secrets.key in the data folder) is not in it. Restore with: quoin restore.

The data directory is QUOIN_DATA.`,
  async run({ positionals: [folder = ''] }, terminal) {
    const { runBackup } = await import('./run-backup.ts')
    return runBackup(folder, terminal)
  },
})
