/** Quoin as a peer: the same requests as in the table of goals. */

import { guidsOf } from '../alone/documents-of.ts'
import { startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { rows } from '../rows.ts'
import { SEEDED, taskBody } from '../sample-tasks.ts'
import type { Peer, Work } from './peer.ts'

/** The rows of the table of goals that the others can do too. */
const rowIds: Readonly<Record<Work, string>> = {
  constant: 'constant',
  read: 'read',
  list: 'list-after-write',
  create: 'create',
}

/** On PostgreSQL if a database is given. */
export async function startQuoinPeer(core: number | undefined, database?: string): Promise<Peer> {
  const settings = database === undefined ? {} : { DATABASE_URL: database }
  const candidate = await startQuoin({ core, settings })
  try {
    // By the import and not one by one: on PostgreSQL that would take a minute.
    await importDocuments(candidate, 'tasks', SEEDED, taskBody)
    const guids = await guidsOf(candidate, `tasks?limit=${SEEDED}`)
    const seeded = { ...candidate, guids: guids.filter((_, index) => index % 10 === 0) }
    const asks = (work: Work) => {
      const row = rows.find(({ id }) => id === rowIds[work])
      if (row === undefined) throw new Error(`There is no row ${rowIds[work]}.`)
      return () => row.asks(seeded)
    }
    return {
      name: database === undefined ? 'Quoin' : 'Quoin, PostgreSQL',
      pid: candidate.pid,
      port: candidate.port,
      asks: {
        constant: asks('constant'),
        read: asks('read'),
        list: asks('list'),
        create: asks('create'),
      },
      close: candidate.close,
    }
  } catch (error) {
    await candidate.close()
    throw error
  }
}
