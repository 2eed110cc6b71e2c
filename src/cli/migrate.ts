import type { Command } from './command.ts'

export const migrate: Command = {
  usage: 'migrate [--from <folder>] [--to <url>]',
  summary: 'Copies everything of an embedded Quoin to PostgreSQL, and compares the two.',
  help: `  --from <folder>   The data folder; QUOIN_DATA if not given. Stop its server first.
  --to <url>        postgres://user:password@host:port/database; DATABASE_URL if not given, which is the better
                    place for a password: others on this machine can read a command. Straight to PostgreSQL,
                    not through a pooler. The database must be empty.

It copies users, blueprints, storages with their documents and indexes, jobs, schedules, logs: everything. Then it
reads both sides, compares counts and checksums (SHA-256) and prints them; a difference is exit code 1. With
QUOIN_ASSETS_URL the uploaded files go to that bucket; without it they stay in the folder.

Ended at any point (Ctrl-C, kill -9, a database that goes away) it can be run again and goes on. Until it is done no node
starts on the database. Nothing is taken away from the folder.`,
  async run(words, terminal) {
    // Here, because it brings pg, which most of those who start a server or ask for help have no use for.
    const { runMigrate } = await import('./run-migrate.ts')
    return runMigrate(words, terminal)
  },
}
