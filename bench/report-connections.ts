/**
 * Preloaded into a server (`node --import`): answers, over the process's channel, with the settings of every SQLite
 * connection that it has open. `synchronous` belongs to a connection and not to the file, so only the
 * process that has the connection can tell. Never loaded while the clock runs.
 */
import { DatabaseSync } from 'node:sqlite'

const seen = new Set<DatabaseSync>()
const { exec } = DatabaseSync.prototype

// Every connection makes its settings with exec. A class put in place of DatabaseSync would not be seen by importers.
DatabaseSync.prototype.exec = function execAndRemember(this: DatabaseSync, sql: string): void {
  seen.add(this)
  exec.call(this, sql)
}

process.on('message', () => {
  const connections = [...seen]
    .filter((database) => database.isOpen)
    .map((database) => ({
      file: database.location(),
      ...database.prepare('PRAGMA journal_mode').get(),
      ...database.prepare('PRAGMA synchronous').get(),
    }))
  process.send?.(connections)
})
// The channel must not keep alive a server that has closed.
process.channel?.unref()
