import type { Read } from '../../database.ts'
import { followWrites, type KeptParts } from './kept-results.ts'
import { WrittenDocuments } from './written-documents.ts'

/**
 * The promise of `Storage.stamp`. Nobody else writes, so the version of the storage stands for all of it, the number of its
 * last write for a document, and for a page the page itself while it is kept.
 */
export function stampOf(parts: KeptParts, name: string, read: Read | undefined): unknown {
  const { catalogue, results } = parts
  const entry = catalogue.find(name)
  if (entry === undefined) return undefined
  if (read === undefined) return catalogue.version(name)
  if ('page' in read)
    return followWrites(parts, entry) ? results.known(name, catalogue.version(name), read.page) : undefined
  entry.written ??= new WrittenDocuments(() => catalogue.nextStamp())
  return entry.written.stamp(read.guid)
}
