import { command } from '../command.ts'

export const backup = command({
  name: 'backup',
  operands: [{ name: '<folder>', completes: 'folder' }],
  flags: {
    spaces: {
      type: 'boolean',
      help: 'With all spaces: <folder>/cluster, and <folder>/spaces/<guid> for each, which restore takes one by one.',
    },
  },
  summary: 'Copies all data into a new folder, also while the server is writing.',
  about: `The folder must not exist. It gets quoin.db, assets/ and manifest.json with a checksum for each file. Until the
backup is complete the folder is called <folder>.partial. The copy contains every write that was acknowledged
before the command started. Run it as the user of the server.
The key of secrets (secrets.key in the data folder) is not in it. Restore with: quoin restore.

The data directory is QUOIN_DATA.`,
  async run({ positionals: [folder = ''], values }, terminal) {
    const { runBackup } = await import('./run-backup.ts')
    return runBackup(folder, values.spaces === true, terminal)
  },
})

export const restore = command({
  name: 'restore',
  operands: [{ name: '<folder>', completes: 'folder' }],
  flags: {
    force: {
      type: 'boolean',
      help: `The directory may contain data. Nothing is deleted: its files are moved into a folder
before-restore-<time> in the same directory; delete that folder when you no longer need it.`,
    },
  },
  summary: 'Restores a backup into an empty data directory, after checking every checksum.',
  about: 'The data directory is QUOIN_DATA. Stop the server first.',
  async run({ positionals: [folder = ''], values }, terminal) {
    const { runRestore } = await import('./run-restore.ts')
    return runRestore(folder, values.force === true, terminal)
  },
})

export const migrate = command({
  name: 'migrate',
  operands: [],
  flags: {
    from: {
      type: 'string',
      value: '<folder>',
      help: 'The data folder; QUOIN_DATA if not given. Stop its server first.',
      completes: 'folder',
    },
    to: {
      type: 'string',
      value: '<url>',
      help: `postgres://user:password@host:port/database; DATABASE_URL if not given. Prefer DATABASE_URL:
other users of this machine can read a command line. Connect to PostgreSQL directly,
not through a pooler. The database must be empty.`,
    },
  },
  summary: 'Copies an embedded database to PostgreSQL, and compares the two.',
  about: `It copies users, blueprints, storages with their documents and indexes, jobs, schedules, logs: everything. Then it
reads both sides, compares counts and checksums (SHA-256) and prints them; a difference is exit code 1. With
QUOIN_ASSETS_URL the uploaded files go to that bucket; without it they stay in the folder.

After an interruption (Ctrl-C, kill -9, a lost database) run the same command again: it continues. Until it is complete no
node starts on the database. Nothing is removed from the folder.`,
  async run({ values }, terminal) {
    const { runMigrate } = await import('./run-migrate.ts')
    return runMigrate(values, terminal)
  },
})
