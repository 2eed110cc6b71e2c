/** The guid of the document of a row: it follows from storage and key, so that an import that runs again finds what it has made. */
import { createHash } from 'node:crypto'

/**
 * In the form of a UUIDv7 of a time before 2005, behind which all guids of this cluster come; 114 bits are of the hash, so that no two
 * keys meet.
 */
export function guidOfRow(storage: string, key: string): string {
  const hash = createHash('sha256').update(`quoin row\n${storage}\n${key}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hash.charAt(16), 16) % 4]
  return `00${hash.slice(0, 6)}-${hash.slice(6, 10)}-7${hash.slice(10, 13)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}
