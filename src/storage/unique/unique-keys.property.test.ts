/** Random writes of documents with unique keys, against a plain list of documents that compares each with all others. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../database.ts'
import { guidOf } from '../document-fields.ts'
import { keyValue, type UniqueKey } from './unique-key.ts'

let fixture: TestDatabase
let database: Database
let count = 0
beforeAll(async () => {
  fixture = await openTestDatabase()
  ;({ database } = fixture)
})
afterAll(() => fixture.close())

/** Values, and what they are for a key that tells everything apart, and for one that ignores case and accents. */
const values: readonly (readonly [value: JsonValue | undefined, exact: string, folded: string])[] = [
  [undefined, '', ''],
  [null, '', ''],
  ['', 'empty', 'empty'],
  ['e', 'e', 'e'],
  ['E', 'E', 'e'],
  ['\u00e9', 'é', 'e'],
  ['e\u0301', 'é', 'e'],
  ['\u00c9', 'É', 'e'],
  ['Straße', 'ß', 'ss'],
  ['STRASSE', 'SS', 'ss'],
  [1, '1', '1'],
  ['1', 'text 1', 'text 1'],
  [true, 'true', 'true'],
  [['e'], 'list e', 'list e'],
  [['É'], 'list É', 'list e'],
  [{ a: 1, b: 'E' }, 'object E', 'object e'],
  [{ b: 'e', a: 1 }, 'object e', 'object e'],
]

const field = (name: string, ignore: boolean) => ({ name, ignoreCase: ignore, ignoreAccents: ignore })
const keys: readonly UniqueKey[] = [
  { name: 'a', fields: [field('a', false)] },
  { name: 'b', fields: [field('b', true)] },
  { name: 'pair', fields: [field('a', true), field('in.c', false)] },
]

/** Places in `values`. */
interface Body {
  readonly a: number
  readonly b: number
  readonly c: number
}

interface Row {
  readonly guid: string
  body: Body
  isRemoved: boolean
}

function classOf(key: UniqueKey, body: Body): string | undefined {
  const parts = key.fields.map(({ name, ignoreCase }) => {
    const place = name === 'a' ? body.a : name === 'b' ? body.b : body.c
    return values[place]?.[ignoreCase ? 2 : 1] ?? ''
  })
  return parts.includes('') ? undefined : parts.join('|')
}

function collides(rows: readonly Row[], body: Body, self: string | undefined): boolean {
  return keys.some((key) => {
    const requested = classOf(key, body)
    return (
      requested !== undefined &&
      rows.some((row) => row.guid !== self && !row.isRemoved && classOf(key, row.body) === requested)
    )
  })
}

function mutationsOf({ a, b, c }: Body): Mutation[] {
  const set = (name: string, place: number): Mutation => {
    const value = values[place]?.[0]
    return value === undefined ? { op: 'remove', field: name } : { op: 'set', field: name, value }
  }
  return [set('a', a), set('b', b), set('in.c', c)]
}

const documentFor = ({ a, b, c }: Body) => ({
  a: values[a]?.[0] ?? null,
  b: values[b]?.[0] ?? null,
  in: { c: values[c]?.[0] ?? null },
})

const place = fc.nat(values.length - 1)
const body = fc.record({ a: place, b: place, c: fc.nat(4) })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create'), body, at: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('update'), body, at: fc.nat(20) }) },
  ...['remove', 'restore', 'delete', 'commit', 'rollback'].map((kind) => ({
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant(kind), body, at: fc.nat(20) }),
  })),
)
type Step = { readonly kind: string; readonly body: Body; readonly at: number }

/** Whether the key refused it. */
async function refuses(work: () => unknown): Promise<boolean> {
  try {
    await work()
    return false
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'CONFLICT') return true
    throw error
  }
}

/** Does the step to the storage and to the rows. Gives whether both refuse it, or neither does. */
async function agrees(
  session: Session,
  name: string,
  rows: Row[],
  { kind, body, at }: Step,
): Promise<boolean> {
  if (kind === 'create') {
    const requested = collides(rows, body, undefined)
    const refused = await refuses(async () => {
      const guid = guidOf(documentOf(await session.create(name, mutationsOf(body))))
      rows.push({ guid, body, isRemoved: false })
    })
    return refused === requested
  }
  const row = rows[at % Math.max(1, rows.length)]
  if (row === undefined) return true
  const { guid } = row
  if (kind === 'delete') {
    await session.delete(name, guid)
    rows.splice(rows.indexOf(row), 1)
    return true
  }
  if (kind === 'update' ? row.isRemoved : row.isRemoved !== (kind === 'restore')) return true
  const after = kind === 'update' ? body : row.body
  const requested = kind !== 'remove' && collides(rows, after, guid)
  const refused = await refuses(() =>
    kind === 'update'
      ? session.update(name, guid, mutationsOf(body))
      : session.setRemoved(name, guid, kind === 'remove'),
  )
  if (!refused) Object.assign(row, { body: after, isRemoved: kind === 'remove' })
  return refused === requested
}

/** Gives the first step about which the two do not agree. */
async function run(name: string, steps: readonly Step[], rows: Row[]): Promise<number | undefined> {
  let session = database.session()
  let committed = structuredClone(rows)
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'commit') {
      await session.transaction.commit()
      committed = structuredClone(rows)
    } else if (step.kind === 'rollback') {
      await session.transaction.rollback()
      rows.splice(0, rows.length, ...structuredClone(committed))
      session = database.session()
    } else if (!(await agrees(session, name, rows, step))) {
      await session.transaction.rollback()
      return at
    }
  }
  await session.transaction.commit()
  return undefined
}

/** Every value that there is, held by the document that has it and by no other. */
async function expectHolders(name: string, rows: readonly Row[]): Promise<void> {
  const session = database.session()
  for (const key of keys)
    for (const a of values.keys())
      for (const c of key.name === 'pair' ? [0, 2, 3, 4] : [0]) {
        const asked = { a, b: a, c }
        const requested = classOf(key, asked)
        const found = rows.find(
          (row) => requested !== undefined && !row.isRemoved && classOf(key, row.body) === requested,
        )
        const holder = await session.claims.findByUniqueKey(name, [key.name], documentFor(asked))
        expect([key.name, asked, holder?.guid]).toEqual([key.name, asked, found?.guid])
      }
  await session.transaction.rollback()
}

test('the storage refuses what the list refuses, and holds what it holds', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const name = `unique_${++count}`
      await database.ensure(name)
      for (const key of keys) await database.capabilities.uniqueValues.keep(name, key)
      const rows: Row[] = []
      expect(await run(name, steps, rows)).toBeUndefined()
      await expectHolders(name, rows)
      await database.drop(name)
    }),
    { numRuns: 12 },
  )
})

test('keys that are made over what was written without them hold the same, or list what collides', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const name = `late_${++count}`
      await database.ensure(name)
      const rows: Row[] = []
      const writes = steps.filter(({ kind }) => kind !== 'rollback')
      const session = database.session()
      for (const one of writes) if (one.kind !== 'commit') await agrees(session, name, rows, one)
      await session.transaction.commit()
      for (const key of keys) {
        const present = rows.filter(({ isRemoved }) => !isRemoved)
        const classes = present.flatMap((row) => classOf(key, row.body) ?? [])
        const duplicates = await database.capabilities.uniqueValues.keep(name, key)
        expect(duplicates?.total ?? 0).toBe(classes.length - new Set(classes).size)
      }
      await database.drop(name)
    }),
    { numRuns: 15 },
  )
})

test('control: without the keys the two do not agree', async () => {
  await database.ensure('control')
  const same: Step = { kind: 'create', body: { a: 3, b: 3, c: 3 }, at: 0 }
  expect(await run('control', [same, same], [])).toBe(1)
})

test('every accent is the same as none where a key says so, wherever it stands in Unicode', () => {
  const key: UniqueKey = { name: 'key', fields: [{ name: 'x', ignoreCase: false, ignoreAccents: true }] }
  const plain = keyValue(key, { x: 'жb' })
  const other: string[] = []
  for (let code = 0x80; code < 0x110000; code++) {
    const character = String.fromCodePoint(code)
    if (!/\p{Mn}/u.test(character) || !/\p{sc=Zinh}/u.test(character)) continue
    if (/[\u3099\u309a]/.test(character)) continue
    if (keyValue(key, { x: `ж${character}b` }) !== plain) other.push(code.toString(16))
  }
  expect(other).toEqual([])
})
