import { readFile } from 'node:fs/promises'

/**
 * How many transactions are in a SQLite write-ahead log (https://sqlite.org/fileformat.html#the_write_ahead_log): the
 * frame that ends one holds the size of the database. Exact while no checkpoint has started the log over.
 */
export async function commitFrames(path: string): Promise<number> {
  const log = await readFile(path)
  if (log.length < 32) return 0
  const pageSize = log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) {
    const ofThisLog = log.subarray(at + 8, at + 16).equals(salt)
    if (ofThisLog && log.readUInt32BE(at + 4) > 0) commits++
  }
  return commits
}
