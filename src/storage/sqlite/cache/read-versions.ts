import type { Read, ReadVersion, ReadVersions } from '../../capabilities.ts'
import { WrittenDocuments } from '../../written-documents.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { aggregateKey } from './kept-aggregates.ts'
import { followWrites, type KeptParts } from './kept-results.ts'

/**
 * No other process writes, so the version of the storage stands for all of it, the number of its last write for a document,
 * and for a page the page itself while it is kept.
 */
export function readVersions(parts: KeptParts): ReadVersions {
  const { catalogue, results } = parts

  /** Asked for each time: the storage may be dropped, and another one made under its name. */
  function inStorage(name: string, version: (entry: StorageEntry) => unknown): ReadVersion {
    return () => {
      const entry = catalogue.find(name)
      return entry && version(entry)
    }
  }

  function ofPage(name: string, key: string): ReadVersion {
    return inStorage(name, (entry) =>
      followWrites(parts, entry) ? results.known(name, catalogue.version(name), key) : undefined,
    )
  }

  function ofDocument(name: string, guid: string): ReadVersion {
    return inStorage(name, (entry) => {
      entry.written ??= new WrittenDocuments(() => catalogue.nextWrite())
      return entry.written.version(guid)
    })
  }

  return {
    of(name: string, read?: Read) {
      if (read === undefined) return inStorage(name, () => catalogue.version(name))
      if ('aggregate' in read) return ofPage(name, aggregateKey(read.aggregate))
      return 'page' in read ? ofPage(name, JSON.stringify(read.page)) : ofDocument(name, read.guid)
    },
  }
}
