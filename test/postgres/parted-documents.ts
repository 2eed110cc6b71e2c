/** A hundred documents in parts of ten, and an aggregate of them. */
import { setFields } from '../../src/shared/mutation.ts'
import { matchAll } from '../../src/shared/query.ts'
import type { Aggregate } from '../../src/storage/aggregate/aggregate.ts'
import { createAll } from '../../src/storage/create-all.ts'
import { guidOf, objectsIn } from '../../src/storage/document-fields.ts'
import { transact } from '../../src/storage/transact.ts'
import type { PartedRoom } from './parted-room.ts'

export const OF_A_PART = 10
const DOCUMENTS = 100

export const byN: Aggregate = {
  ...{ query: matchAll, order: [], limit: 100 },
  groups: [{ field: 'n', as: 'n' }],
  values: [
    { figure: 'count', as: 'count' },
    { figure: 'sum', field: 'amount', as: 'sum' },
    { figure: 'average', field: 'amount', as: 'average' },
    { figure: 'min', field: 'amount', as: 'min' },
    { figure: 'max', field: 'amount', as: 'max' },
  ],
}

/** Gives their guids. The document n was created at the millisecond n + 1. Parts of `byN` are kept. */
export async function fillRoom(room: PartedRoom): Promise<readonly string[]> {
  await room.empty()
  const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({
    mutations: setFields({ n: n % 3, amount: n / 10 }),
    options: { cms: n + 1 },
  }))
  const created = await transact(room.nodes[0], (session) => createAll(session, room.name(), documents))
  await room.parted(byN)
  await room.parted(byN)
  if (room.ways.join() !== 'all,written') throw new Error(`Parts are not kept: ${room.ways.join()}.`)
  room.ways.length = 0
  return created.documents.map(({ value }) => guidOf(objectsIn([value])[0] ?? {}))
}
