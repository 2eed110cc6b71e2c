/** Random changes of a few documents by two nodes: with guesses and without, each gives the same, and so is what is stored. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { type Database, documentOf, type Origin, type Session, type WriteCondition } from '../../database.ts'
import { UnitConflict } from '../../unit-of-work.ts'
import { KnownDocuments } from './known-documents.ts'

let temporary: TemporaryDatabase
let one: Database
let two: Database
let names = 0

beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  one = await openNode(temporary.url, { node: 'one' })
  two = await openNode(temporary.url, { node: 'two' })
})
afterAll(async () => {
  await one.close()
  await two.close()
  await temporary.drop()
})

const guids = ['a', 'b'].map((letter) => `00000000-0000-7000-8000-00000000000${letter}`)

const someMutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    op: fc.constant('increment' as const),
    field: fc.constantFrom('n', 'in.n'),
    amount: fc.integer(),
  }),
  fc.record({
    op: fc.constant('set' as const),
    field: fc.constantFrom('n', 'in', 'in.n', 'list', 'sku', "it's"),
    value: fc.oneof(
      fc.constantFrom(1, -0, 1e21, 'a', 'A', 'ö\u2028"\\', null, []),
      fc.string(),
      fc.double({ noNaN: true }),
    ),
  }),
  fc.record({
    op: fc.constant('append' as const),
    field: fc.constantFrom('list', 'n'),
    value: fc.constant(1),
  }),
  fc.record({ op: fc.constant('remove' as const), field: fc.constantFrom('n', 'in', 'list', 'sku') }),
)
const conditions: readonly (WriteCondition | undefined)[] = [
  undefined,
  { updateHash: 'none' },
  { allows: (document) => documentOf(document).n !== 1 },
  { complete: (after) => [{ op: 'set', field: 'sum', value: Object.keys(after).length }] },
]

interface Step {
  readonly by: 'one' | 'two'
  readonly kind: 'create' | 'update' | 'remove' | 'restore' | 'delete'
  readonly at: number
  readonly mutations: readonly Mutation[]
  readonly condition: number
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    by: fc.constantFrom('one', 'one', 'one', 'two'),
    kind: fc.constantFrom('create', 'update', 'update', 'update', 'update', 'remove', 'restore', 'delete'),
    at: fc.nat(guids.length - 1),
    mutations: fc.array(someMutations, { maxLength: 3 }),
    condition: fc.nat(conditions.length + 4).map((place) => (place < conditions.length ? place : 0)),
  }),
  { minLength: 20, maxLength: 40 },
)

/** What the caller is told, as far as it does not differ between two documents of the same content. */
async function told(database: Database, origin: Origin, storage: string, step: Step): Promise<unknown> {
  const session = database.session(origin)
  try {
    const result = await changed(session, storage, step)
    await session.transaction.commit()
    return result
  } catch (error) {
    await session.transaction.rollback()
    if (error instanceof UnitConflict && origin.guesses) {
      wrong += 1
      return told(database, {}, storage, step)
    }
    if (error instanceof QuoinError) return error.message
    throw error
  }
}

async function changed(session: Session, storage: string, { kind, at, mutations, condition }: Step) {
  const guid = guids[at] ?? ''
  if (kind === 'create') return bodyOf(documentOf(await session.create(storage, mutations, { guid })))
  const change =
    kind === 'update'
      ? session.update(storage, guid, mutations, conditions[condition])
      : kind === 'delete'
        ? session.delete(storage, guid)
        : session.setRemoved(storage, guid, kind === 'remove')
  const written = await change
  if (written.outcome === 'not_found') return written
  return { outcome: written.outcome, document: bodyOf(documentOf(written.document)) }
}

function bodyOf({ _meta, ...body }: ReturnType<typeof documentOf>): string {
  return JSON.stringify(body)
}

async function stored(storage: string): Promise<unknown> {
  const found = await Promise.all(guids.map((guid) => two.session().get(storage, guid, { removed: true })))
  const present = await Promise.all(guids.map((guid) => two.session().get(storage, guid)))
  return found.map((document, at) => document && [bodyOf(documentOf(document)), present[at] !== undefined])
}

let wrong = 0

test('with guesses and without, random changes give the same', async () => {
  let right = 0
  const guess = KnownDocuments.prototype.guess
  KnownDocuments.prototype.guess = function counted(table, guid) {
    const text = guess.call(this, table, guid)
    if (text !== undefined) right += 1
    return text
  }
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const [guessed, read] = [`guessed_${++names}`, `read_${names}`]
        for (const name of [guessed, read]) {
          await one.ensure(name)
          const key = { name: 'sku', fields: [{ name: 'sku', ignoreCase: true, ignoreAccents: false }] }
          await one.capabilities.uniqueValues.keep(name, key)
        }
        for (const step of all) {
          const database = step.by === 'one' ? one : two
          const ours = await told(database, { guesses: true }, guessed, step)
          expect(ours).toEqual(await told(database, {}, read, step))
          expect(await stored(guessed)).toEqual(await stored(read))
        }
      }),
      { numRuns: 25 },
    )
  } finally {
    KnownDocuments.prototype.guess = guess
  }
  // Both ways are taken.
  expect(right).toBeGreaterThan(10)
  expect(wrong).toBeGreaterThan(0)
}, 120_000)
