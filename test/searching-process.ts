/**
 * A process that reads a SQLite storage beside the one that writes, and sends what each search finds. Argument: the directory.
 * Gets `{ storage, search }` by IPC, and answers `{ documents }` or `{ error }`.
 */
import type { Search } from '../src/shared/query.ts'
import { openReaderDatabase } from '../src/storage/sqlite/reader/reader-database.ts'

const [directory = ''] = process.argv.slice(2)

const database = openReaderDatabase({
  directory,
  following: {
    cluster: {
      self: 'reader',
      alive: () => true,
      tell: async () => undefined,
      send: async () => undefined,
      nodes: async () => [],
    },
    watch: () => () => undefined,
    version: () => 0,
  },
})

async function answer({ storage: name, search }: { storage: string; search: Search }) {
  try {
    const found = await database.session().find(name, search)
    return { documents: found.documents.text }
  } catch (error) {
    return { error: String(error) }
  }
}

process.on('message', async (asked: { storage: string; search: Search }) => {
  process.send?.(await answer(asked))
})
process.on('disconnect', () => database.close())
process.send?.({ documents: '[]' })
