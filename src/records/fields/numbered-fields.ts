/**
 * Fields of the type `autonumber`: the database gives each new document the next number. Numbers are taken before the
 * document is written, so that computed fields can read them; one whose document is refused then is left out.
 */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, isEmptyValue } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { transact } from '../../storage/transact.ts'
import type { TakenNumbers } from './field-writer.ts'
import type { FieldChange } from './unique-fields.ts'
import { type NumberedField, writePlan } from './write-plan.ts'

/** The numbers that would be taken, by place, for a trial: computed fields read them. */
export function nextNumbers(
  session: Session,
  storage: string,
  numbered: readonly NumberedField[],
): MaybePromise<(at: number) => TakenNumbers> {
  return andThen(
    nextOf(session, storage, numbered),
    (firsts) => (at: number) => new Map([...firsts].map(([field, first]) => [field, first + at])),
  )
}

function nextOf(
  session: Session,
  storage: string,
  [next, ...rest]: readonly NumberedField[],
): MaybePromise<TakenNumbers> {
  if (next === undefined) return new Map()
  const { name, from } = next
  return andThen(session.claims.numbers(storage, name, { count: 0, from }), (first) =>
    andThen(nextOf(session, storage, rest), (others) => new Map([[name, first], ...others])),
  )
}

/** Whether the mutation asks for the number of a document that has none, as the filling of a field does. */
export function empties(mutation: Mutation, name: string): boolean {
  return mutation.op === 'set' && mutation.field === name && mutation.value === null
}

/** The fields in which the document has no number. */
export function unnumbered(
  rules: readonly FieldRule[],
  known: StoredJson | JsonObject,
): readonly NumberedField[] {
  const { numbered } = writePlan(rules)
  if (numbered.length === 0) return numbered
  const document = known instanceof StoredJson ? documentOf(known) : known
  return numbered.filter(({ name }) => isEmptyValue(valueAt(document, parseFieldPath(name))))
}

/** Lets the numbers of a field continue behind those that documents have, also removed ones. */
export async function continueNumbers(database: Database, { before, after }: FieldChange): Promise<void> {
  if (after?.type !== 'autonumber' || after.storage === undefined || !database.has(after.storage)) return
  const { name, storage } = after
  if (before?.type === 'autonumber' && before.name === name && before.storage === storage) return
  const highest = await highestOf(database.session(), storage, name)
  if (highest === undefined) return
  await transact(database, (session) =>
    session.claims.numbers(storage, name, { count: 0, from: highest + 1 }),
  )
}

async function highestOf(session: Session, storage: string, field: string): Promise<number | undefined> {
  const query = { kind: 'range', field, bounds: { gte: 0 } } as const
  const sort = [{ field, order: 'desc', missing: 'last' }] as const
  const found = await session.find(storage, search({ query, sort, limit: 1, includeRemoved: true }))
  const [highest] = documentsOf(found).map((document) => valueAt(document, parseFieldPath(field)))
  return typeof highest === 'number' ? Math.floor(highest) : undefined
}
