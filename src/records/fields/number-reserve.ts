/**
 * Numbers that a session has taken for fields of the type `autonumber` and not used yet: those of documents that are written one
 * after the other are taken together, and one whose document is refused goes to the next. They end with the transaction: what
 * is left then is given to no document, since another session may have taken the same after a rollback.
 */
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import type { NumbersOfOne, TakenNumbers } from './field-writer.ts'
import type { NumberedField } from './write-plan.ts'

export class NumberReserve {
  /** By storage and field, in the order in which they are given. */
  readonly #left = new Map<string, number[]>()

  /** Numbers of the fields for so many documents, in their order. The session is asked once a field, for what is not left. */
  take(
    session: Session,
    storage: string,
    [next, ...rest]: readonly NumberedField[],
    count: number,
  ): MaybePromise<readonly TakenNumbers[]> {
    if (next === undefined) return Array.from({ length: count }, () => new Map())
    return andThen(this.#ofField(session, storage, next, count), (numbers) =>
      andThen(this.take(session, storage, rest, count), (others) =>
        others.map((taken, at) => new Map([[next.name, numbers[at] ?? next.from], ...taken])),
      ),
    )
  }

  /** Those of one document, and at once those of so many that follow. Undefined for a document that has all. */
  missing(
    session: Session,
    storage: string,
    fields: readonly NumberedField[],
    following = 0,
  ): MaybePromise<TakenNumbers | undefined> {
    if (fields.length === 0) return undefined
    return andThen(this.take(session, storage, fields, 1 + following), ([own, ...rest]) => {
      this.giveBack(storage, rest)
      return own
    })
  }

  /** Those of documents that were not written. */
  giveBack(storage: string, unused: readonly TakenNumbers[]): void {
    for (const taken of unused.toReversed())
      for (const [field, number] of taken) this.#of(storage, field).unshift(number)
  }

  has(storage: string, fields: readonly NumberedField[]): boolean {
    return fields.every(({ name }) => this.#of(storage, name).length > 0)
  }

  /** For one document of fields that {@link has} numbers: one is taken when it is asked for, the same as often as it is. */
  lazily(storage: string): NumbersOfOne {
    const taken = new Map<string, number | undefined>()
    return {
      get: (field) => {
        if (!taken.has(field)) taken.set(field, this.#of(storage, field).shift())
        return taken.get(field)
      },
    }
  }

  /** At the end of the transaction. */
  forget(): void {
    this.#left.clear()
  }

  #ofField(
    session: Session,
    storage: string,
    { name, from }: NumberedField,
    count: number,
  ): MaybePromise<readonly number[]> {
    const numbers = this.#of(storage, name).splice(0, count)
    const missing = count - numbers.length
    if (missing === 0) return numbers
    return andThen(session.claims.numbers(storage, name, { count: missing, from }), (first) => [
      ...numbers,
      ...Array.from({ length: missing }, (_, at) => first + at),
    ])
  }

  #of(storage: string, field: string): number[] {
    const key = `${storage} ${field}`
    const left = this.#left.get(key) ?? []
    this.#left.set(key, left)
    return left
  }
}
