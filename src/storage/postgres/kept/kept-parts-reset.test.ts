/** All groups are worked out again where it is not known what was written, and only then. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { byN, fillRoom, OF_A_PART } from '../../../../test/postgres/parted-documents.ts'
import { openPartedRoom, type PartedRoom } from '../../../../test/postgres/parted-room.ts'

let room: PartedRoom
let guids: readonly string[] = []
beforeAll(async () => {
  room = await openPartedRoom(OF_A_PART)
})
afterAll(() => room?.close())
beforeEach(async () => {
  guids = await fillRoom(room)
})

/** By parts, which must be what one statement gives. */
async function given(): Promise<void> {
  expect(await room.parted(byN)).toBe(await room.direct(byN))
}

const guid = (n: number) => guids[n] ?? ''

describe('all is worked out again', () => {
  const all = async () => {
    room.ways.length = 0
    await given()
    expect(room.ways).toContain('all')
    room.ways.length = 0
    await given()
    expect(room.ways).toEqual(['written'])
  }

  test('where a note does not say when the document was created, as those of a version before', async () => {
    await room.admin.query(`ALTER TABLE ${room.table()} DISABLE TRIGGER USER`)
    await room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":5}' WHERE guid = $1`, [guid(70)])
    await room.admin.query(
      `INSERT INTO noted_write (xid, storage, guid) VALUES (pg_current_xact_id(), $1, $2)`,
      [Number(room.table().slice(4)), guid(70)],
    )
    await room.admin.query(`ALTER TABLE ${room.table()} ENABLE TRIGGER USER`)
    await all()
  })

  test('where notes were lost, also when another node has seen it first', async () => {
    const lost = room.lost()
    const change = () =>
      room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":6}' WHERE guid = $1`, [
        guid(Math.floor(Math.random() * 100)),
      ])
    await change()
    await room.admin.query(
      'TRUNCATE noted_write, noted_write_life; INSERT INTO noted_write_life DEFAULT VALUES',
    )
    await all()
    await change()
    await room.admin.query('TRUNCATE noted_write, noted_write_life')
    await given()
    expect(room.lost()).toBe(lost + 1)
    await given()
    await given()
    expect(room.ways.at(-1)).toBe('written')
  })

  test('where more was written than is looked at', async () => {
    await room.admin.query(
      `INSERT INTO ${room.table()} (guid, created, updated, removed, version, doc) SELECT 'x' || n, 50, 1, 0, 1, '{"n":1}' FROM generate_series(1, 5001) n`,
    )
    await room.parted(byN)
    expect(room.ways).toContain('all')
    expect(await room.parted(byN)).toBe(await room.direct(byN))
  })

  test('where most parts were written', async () => {
    await room.admin.query(`UPDATE ${room.table()} SET doc = doc WHERE created <= 60`)
    await all()
  })

  test('where nothing was asked for half as long as notes are remembered', async () => {
    room.clocks.passed += 60_000
    await all()
  })

  test('where the answer came after notes may have been forgotten', async () => {
    await room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":6}' WHERE guid = $1`, [guid(8)])
    room.clocks.each = 110_000
    await given()
    room.clocks.each = 0
    expect(room.ways).toEqual(['written', 'all'])
  })

  test('where the node has come back, perhaps to another server', async () => {
    room.forget()
    await all()
    const under = given()
    room.forget()
    await under
    await all()
    const following = room.follow()
    room.forget()
    await following
    await all()
  })
})

describe('notes are asked before they are forgotten', () => {
  const idle = async (times: number) => {
    for (let time = 0; time < times; time++) {
      room.clocks.passed += 20_000
      await room.follow()
    }
  }

  test('as long as the groups were asked for in the last 15 minutes', async () => {
    for (const n of [5, 15, 55]) {
      await room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":6}' WHERE guid = $1`, [guid(n)])
      await idle(10)
    }
    // What was noted since is not needed any more.
    await room.admin.query('DELETE FROM noted_write')
    await room.create({ n: 1 }, 95)
    await given()
    expect([room.ways.at(-1), room.worked()]).toEqual(['written', [0, 1, 5, 9]])
    await given()
    expect(room.worked()).toEqual([])
    room.ways.length = 0
    await idle(45)
    expect(room.ways).toHaveLength(44)
    await idle(4)
    expect(room.ways).toHaveLength(44)
    await given()
    expect(room.ways.at(-1)).toBe('all')
  })

  test('and groups that were asked for meanwhile are as they are', async () => {
    await room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":6}' WHERE guid = $1`, [guid(5)])
    await Promise.all([room.follow(), given(), room.follow(), given()])
    await given()
    expect(room.ways).not.toContain('all')
  })
})
