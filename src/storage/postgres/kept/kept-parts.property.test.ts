/** After any writes, on any node, groups that are kept by parts are those that one statement gives. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aggregatedBodies, someAggregate } from '../../../../test/aggregate-agreement.ts'
import { untidyBody } from '../../../../test/arbitrary-documents.ts'
import { openPartedRoom, type PartedRoom } from '../../../../test/postgres/parted-room.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { canMerge } from '../../aggregate/merge-groups.ts'
import { transact } from '../../transact.ts'

let room: PartedRoom
beforeAll(async () => {
  room = await openPartedRoom(4)
})
afterAll(() => room?.close())

interface Write {
  readonly kind: 'create' | 'update' | 'remove' | 'restore' | 'delete' | 'recreate' | 'wait'
  readonly at: number
  readonly node: 0 | 1
  readonly body: JsonObject
}

const someWrite: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom(
    'create',
    'create',
    'update',
    'update',
    'remove',
    'restore',
    'delete',
    'recreate',
    'wait',
  ),
  at: fc.nat(1_000),
  node: fc.constantFrom<0 | 1>(0, 1),
  body: aggregatedBodies(untidyBody, false),
})

/** Of all of them on one node. */
async function transaction(writes: readonly Write[], guids: string[]): Promise<void> {
  const [one] = writes
  if (one === undefined) return
  const name = room.name()
  const node = room.nodes[one.node]
  await transact(node, async (session) => {
    for (const { kind, at, body } of writes) {
      const guid = guids[at % Math.max(1, guids.length)] ?? 'none'
      const fields = setFields({ n: at % 3, ...body })
      if (kind === 'create') await session.create(name, fields, { cms: at + 1 })
      else if (kind === 'update') await session.update(name, guid, fields)
      else if (kind === 'remove') await session.setRemoved(name, guid, true)
      else if (kind === 'restore') await session.setRemoved(name, guid, false)
      else if (kind === 'delete') await session.delete(name, guid)
    }
  })
  for (const { kind, at } of writes) {
    if (kind === 'wait') room.clocks.passed += at * 20
    // Nothing in Quoin changes the time of creation, but SQL by hand may.
    if (kind === 'recreate')
      await room.admin.query(`UPDATE ${room.table()} SET created = $1, doc = doc WHERE guid = $2`, [
        at * 3,
        guids[at % Math.max(1, guids.length)],
      ])
  }
  const { rows } = await room.admin.query(`SELECT guid FROM ${room.table()} ORDER BY guid`)
  guids.splice(0, guids.length, ...rows.map(({ guid }) => String(guid)))
}

const cases = fc.record({
  documents: fc.array(
    fc.record({ cms: fc.integer({ min: 1, max: 1_000 }), body: aggregatedBodies(untidyBody, false) }),
    {
      minLength: 10,
      maxLength: 25,
    },
  ),
  aggregates: fc.array(someAggregate.filter(canMerge), { minLength: 1, maxLength: 2 }),
  writes: fc.array(fc.array(someWrite, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 8 }),
})

test('after each transaction they are the same', async () => {
  const ways: string[] = []
  await fc.assert(
    fc.asyncProperty(cases, async ({ documents, aggregates, writes }) => {
      await room.admin.query(`DELETE FROM ${room.table()}`)
      for (const { cms, body } of documents) await room.create(body, cms)
      const guids: string[] = []
      const same = async () => {
        for (const wanted of aggregates) {
          room.ways.length = 0
          expect(await room.parted(wanted), JSON.stringify(wanted)).toBe(await room.direct(wanted))
          ways.push(room.ways.join())
        }
      }
      await same()
      for (const list of writes) {
        await transaction(list, guids)
        await same()
      }
    }),
    { numRuns: 60 },
  )
  // Else it would show nothing.
  expect(ways.filter((way) => way === 'written').length).toBeGreaterThan(ways.length / 3)
})
