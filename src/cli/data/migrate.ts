import { command } from '../command.ts'

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
