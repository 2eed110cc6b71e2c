import { expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Search, type SortKey, search } from '../../src/shared/query.ts'
import { documentOf, type Found, type Session } from '../../src/storage/database.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { change, create, failure, set } from './expectations.ts'
import { searchDocuments } from './order-documents.ts'
import type { It } from './world.ts'

/** Node's clients take 16 KB of headers, and `after` takes 10,000 characters. */
const LONGEST_CURSOR = 4_000

const by = (
  field: string,
  order: SortKey['order'] = 'asc',
  missing: SortKey['missing'] = 'last',
): SortKey => ({ field, order, missing })

const ids = (found: Found) =>
  documentsOf(found)
    .map(({ id }) => String(id))
    .join('')

/** Page by page to the end; `between` runs behind each. */
async function walk(
  session: Session,
  name: string,
  requested: Search,
  between: (last: JsonObject) => unknown = () => undefined,
): Promise<string> {
  let walked = ''
  for (let page: Search | undefined = requested; page !== undefined; ) {
    const found: Found = await session.find(name, page)
    walked += ids(found)
    const after = found.next()
    if (after !== undefined) expect(after.length).toBeLessThanOrEqual(LONGEST_CURSOR)
    const last = documentsOf(found).at(-1)
    if (last) await between(last)
    page = after === undefined ? undefined : { ...requested, after }
  }
  return walked
}

/** 9,000 letters that differ at their end, others that are short, missing or no text, and some twice. */
const long = (end: string) => `${'ä'.repeat(9_000)}${end}`
const titles = [long('b'), 'short', long('a'), undefined, long('b'), 7, long('😀'), long(''), null, long('a')]

export function cursorChapter(it: It): void {
  it('a walk by cursor meets every document once, in order', async ({ database, name, clock }) => {
    await transact(database, async (session) => {
      for (let index = 0; index < 25; index++) {
        if (index % 3 === 0) clock.now += 1
        await session.create(name, set({ id: String.fromCharCode(97 + index), group: index % 4 }))
      }
    })
    const session = database.session()
    expect((await session.find(name, search({ limit: 0 }))).next()).toBeUndefined()
    // Where an index walks the field, creation may yet break ties in the other direction.
    await database.ensure(name, { indexes: [{ fields: ['group'] }] })
    const sorts = [
      [],
      [by('group')],
      [by('group', 'desc')],
      [by('_meta.created', 'desc')],
      [by('group', 'desc'), by('_meta.created', 'asc')],
      [by('group', 'asc'), by('_meta.created', 'desc')],
    ]
    for (const sort of sorts) {
      const all = ids(await session.find(name, search({ sort, limit: 100 })))
      let pages = 0
      const walked = await walk(session, name, search({ sort, limit: 10 }), () => {
        pages++
      })
      expect(walked).toBe(all)
      expect([walked.length, pages]).toEqual([25, 3])
    }
  })

  it('long values make no long cursor, and the same pages', async ({ database, name, clock }) => {
    const stored: JsonObject[] = []
    await transact(database, async (session) => {
      for (const [index, title] of titles.entries()) {
        if (index % 2 === 0) clock.now += 1
        const fields = { id: String(index), group: index % 2, ...(title !== undefined && { title }) }
        stored.push(documentOf(await session.create(name, set(fields))))
      }
    })
    const sorts: SortKey[][] = [
      [by('title')],
      [by('title', 'desc', 'first')],
      [by('group', 'desc'), by('title')],
      [by('title', 'asc', 'first'), by('group')],
      [{ ...by('title'), collation: 'sv' }],
    ]
    for (const indexed of [false, true]) {
      if (indexed) await database.ensure(name, { indexes: [{ fields: ['title'] }] })
      for (const sort of sorts)
        for (const limit of [1, 3]) {
          const expected = searchDocuments(stored, search({ sort })).map(({ id }) => id)
          expect(await walk(database.session(), name, search({ sort, limit }))).toBe(expected.join(''))
        }
    }
    // The last document of each page is removed before the next page is asked for.
    const sort = [by('title')]
    const expected = searchDocuments(stored, search({ sort })).map(({ id }) => id)
    const remove = (last: JsonObject) =>
      change(database, (session) => session.setRemoved(name, guidOf(last), true))
    expect(await walk(database.session(), name, search({ sort, limit: 2 }), remove)).toBe(expected.join(''))
  })

  it('a cursor of a long value is refused once its document has moved or is gone', async (world) => {
    const { database, name } = world
    const guid = await create(database, name, { id: 'a', title: long('a') })
    await create(database, name, { id: 'b', title: long('b') })
    const session = database.session()
    const first = search({ sort: [by('title')], limit: 1 })
    const after = (await session.find(name, first)).next() ?? ''
    const next = { ...first, after }
    expect(ids(await session.find(name, next))).toBe('b')
    const madeUp = Buffer.from(JSON.stringify([guid, 'x'])).toString('base64url')
    const others = [
      { ...first, after: madeUp },
      { ...next, sort: [by('title', 'desc')] },
    ]
    for (const other of others) await failure('INVALID_QUERY', () => session.find(name, other))
    await change(database, (writing) => writing.update(name, guid, set({ title: long('c') })))
    const error = await failure('INVALID_QUERY', () => session.find(name, next))
    expect(error.message).toMatch(/Begin again/)
    await change(database, (writing) => writing.update(name, guid, set({ title: long('a') })))
    expect(ids(await session.find(name, next))).toBe('b')
    await change(database, (writing) => writing.delete(name, guid))
    await failure('INVALID_QUERY', () => session.find(name, next))
  })
}
