import type { Clock } from '../../shared/clock.ts'
import { invalidField } from '../../shared/errors.ts'
import { elementsOf } from '../../shared/expression-work.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Origin } from '../../storage/database.ts'
import type { FieldFrame } from './field-expression.ts'

/** What expressions of fields may see of the world. */
export interface FieldWorld {
  readonly clock: Clock
  readonly random: Random
}

/** One write of a document, as the expressions of its fields see it. */
export interface FieldWriter {
  frame(doc: JsonObject): FieldFrame
  /** Who writes: `{ guid, username }`. */
  readonly user: JsonObject | undefined
  /** What was taken for the field of this document; undefined where nothing was. */
  number(field: string): number | undefined
}

/** For one document, by field. */
export type TakenNumbers = ReadonlyMap<string, number>

/** The same, which may be taken when it is asked for. */
export type NumbersOfOne = Pick<TakenNumbers, 'get'>

/** Elements of lists that all expressions of one write look at together: some milliseconds. */
const MOST_ELEMENTS = 20_000

export function withNumbers(writer: FieldWriter, numbers: NumbersOfOne | undefined): FieldWriter {
  return numbers ? { ...writer, number: (field) => numbers.get(field) } : writer
}

export function fieldWriter({ clock, random }: FieldWorld, { user }: Origin): FieldWriter {
  let left = MOST_ELEMENTS
  let now: number | undefined
  const context: FieldFrame['context'] = {
    timeZone: 'UTC',
    locale: 'en',
    now() {
      now ??= clock()
      return now
    },
    random(bytes) {
      const drawn = new Uint8Array(bytes)
      random(drawn)
      return drawn
    },
    spend(elements, work) {
      left -= elementsOf(elements, work)
      if (left < 0)
        throw invalidField(
          'computed',
          `The expressions of the fields look at more than ${MOST_ELEMENTS.toLocaleString('en')} elements of lists. Store less in lists.`,
        )
    },
  }
  const by = user && { guid: user.guid, username: user.username }
  return {
    user: by,
    frame: (doc) => ({ doc, user: by, context }),
    number: () => undefined,
  }
}
