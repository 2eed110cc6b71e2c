/** Checksums of rows: of one, to see whether it has to be written again; of a table, to see that all was copied. */
import { createHash } from 'node:crypto'
import type { CopiedRow, CopiedTable } from './copied-tables.ts'

export interface TableChecksum {
  readonly rows: number
  /** Of all rows in the order of their keys, hexadecimal. */
  readonly sha256: string
}

/** What is equal when all columns are, byte for byte. The same as `digestColumns` make PostgreSQL say. */
export function rowDigest({ columns }: CopiedTable, row: CopiedRow): string {
  const values = columns.map(({ large }, place) => {
    const value = row[place] ?? null
    return large && value !== null ? createHash('sha256').update(String(value)).digest('hex') : value
  })
  return JSON.stringify(values)
}

/** Takes digests in the order of keys. */
export function tableChecksum(): { add(digest: string): void; end(): TableChecksum } {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(digest) {
      rows++
      // No digest holds an end of line: JSON escapes it.
      hash.update(digest).update('\n')
    },
    end: () => ({ rows, sha256: hash.digest('hex') }),
  }
}
