/** Roles × operations × doors: what the rules of a storage and its fields allow is the same through each door. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DealsFixture, documents, openDealsFixture } from './rule-doors/deals-fixture.ts'
import {
  type Door,
  doorNames,
  type Operation,
  operations,
  type Role,
  roles,
  type Tries,
} from './rule-doors/door.ts'
import { doorsOf } from './rule-doors/doors.ts'

let fixture: DealsFixture
beforeAll(async () => {
  fixture = await openDealsFixture()
})
afterAll(() => fixture?.close())
beforeEach(() => fixture.reset())

const seen: Readonly<Record<Role, readonly number[]>> = {
  ann: [1, 8],
  bob: [2],
  lead: [1, 2, 4, 8],
  admin: [1, 2, 4, 8],
  '': [],
}
const margins: Readonly<Record<Role, boolean>> = {
  ann: false,
  bob: false,
  lead: true,
  admin: true,
  '': false,
}
/** Who creates for whom, and whether it is allowed. */
const creates: readonly (readonly [Role, Role | 'none', boolean])[] = [
  ['ann', 'ann', true],
  ['ann', 'bob', false],
  ['bob', 'none', false],
  ['lead', 'lead', true],
  ['lead', 'ann', false],
  ['admin', 'bob', true],
  ['', 'none', false],
]
/** Whether a value of `approved` is stored. */
const sets: readonly (readonly [Role, boolean])[] = [
  ['ann', false],
  ['lead', true],
  ['admin', true],
  ['', false],
]
/** Who changes, or removes, which deal: own, locked, of others that are seen and that are not. */
const writes: readonly (readonly [Role, number, boolean])[] = [
  ['ann', 1, true],
  ['ann', 8, false],
  ['ann', 2, false],
  ['bob', 2, true],
  ['bob', 1, false],
  ['bob', 4, false],
  ['lead', 1, false],
  ['lead', 4, false],
  ['admin', 8, true],
  ['', 4, false],
]

/** How each operation is tried through a door. */
const tried: { readonly [O in Operation]: (look: Tries[O]) => Promise<void> } = {
  // Twice, so that what was kept for one user is not given to another.
  see: (look) => twice(async (as) => expect([as, await look(as)]).toEqual([as, seen[as]])),
  hidden: (look) => twice(async (as) => expect([as, await look(as)]).toEqual([as, margins[as]])),
  async create(look) {
    for (const [as, owner, isAllowed] of creates) {
      const before = await fixture.state()
      const status = await look(as, fixture.user(owner === 'none' ? '' : owner))
      const more = isAllowed
        ? [{ n: 16, title: 'new', owner: fixture.user(owner === 'none' ? '' : owner), approved: null }]
        : []
      expect([as, owner, status, await fixture.state()]).toEqual([
        as,
        owner,
        replied(isAllowed),
        [...before, ...more],
      ])
      await fixture.reset()
    }
  },
  async set(look) {
    for (const [as, isAllowed] of sets) {
      const status = await look(as)
      const values = (await fixture.state()).map(({ approved }) => approved).filter((value) => value !== null)
      expect([as, status, values]).toEqual([as, expect.any(Number), isAllowed ? ['yes'] : []])
      expect(status).toBeLessThan(isAllowed ? 400 : 500)
      await fixture.reset()
    }
  },
  async change(look) {
    for (const [as, n, isAllowed] of writes) {
      const before = await fixture.state()
      const status = await look(as, n)
      const after = before.map((one) => (isAllowed && one.n === n ? { ...one, title: 'changed' } : one))
      expect([as, n, status, await fixture.state()]).toEqual([as, n, replied(isAllowed), after])
      await fixture.reset()
    }
  },
  async remove(look) {
    for (const [as, n, isAllowed] of writes) {
      const before = await fixture.state()
      const status = await look(as, n)
      const after = before.filter((one) => !isAllowed || one.n !== n)
      expect([as, n, status, await fixture.state()]).toEqual([as, n, replied(isAllowed), after])
      await fixture.reset()
    }
  },
}

/** Refused is 401, 403 or 404; pages are shown again with 422, and with 409 for a row that the table does not show. */
const replied = (isAllowed: boolean) =>
  expect.toSatisfy((status: number) =>
    (isAllowed ? [200, 201, 303] : [401, 403, 404, 409, 422]).includes(status),
  )

async function twice(look: (as: Role) => Promise<void>): Promise<void> {
  for (const _ of [1, 2]) for (const as of roles) await look(as)
}

function tryCell<O extends Operation>(door: Door, operation: O): Promise<void> | string {
  const look: Tries[O] | string = door[operation]
  return typeof look === 'string' ? look : tried[operation](look)
}

describe.each(doorNames)('%s', (name) => {
  test.each(operations)('%s', async (operation) => {
    const cell = tryCell(doorsOf(fixture)[name], operation)
    // A door without the operation says why.
    if (typeof cell === 'string') expect(cell).toMatch(/^It|^A file/)
    else await cell
  })
})

test('each door is tried in two ways or more, and there is none beside them', () => {
  const doors = doorsOf(fixture)
  expect(Object.keys(doors).sort()).toEqual([...doorNames].sort())
  for (const name of doorNames) {
    const ways = operations.filter((operation) => typeof doors[name][operation] !== 'string')
    expect([name, ways.length]).toEqual([name, expect.toSatisfy((count: number) => count >= 2)])
  }
})

test.each(['csv', 'xlsx', 'ndjson'])(
  'an export as %s in the order of a hidden field is refused before its first byte',
  async (format) => {
    const sort = encodeURIComponent('[{"margin":"asc"}]')
    const path = `${documents}/export?format=${format}&columns=${encodeURIComponent('["title"]')}&sort=${sort}`
    const refused = await fixture.send('GET', path, 'ann')
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'INVALID_QUERY' }])
    // Only this form is a text that is no JSON.
    if (format === 'csv') expect((await fixture.send('GET', path, 'lead')).status).toBe(200)
  },
)
