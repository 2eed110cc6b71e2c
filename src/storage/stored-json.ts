import type { Steps } from '../shared/cooperative.ts'
import type { JsonValue } from '../shared/json.ts'
import { jsonInSteps } from '../shared/json-in-steps.ts'

/** Between the documents of a page. */
const BETWEEN = ',{"_meta":{'
const LAST_TRIES = 20

/** Characters of a text that is parsed in turns where that is possible: 2 ms of parsing. */
const LONG = 262_144

/** Whether what reads values now can wait: it catches {@link UnparsedText}, parses that in turns, and reads all again. */
export const reading = { canWait: false }

/** Thrown by `StoredJson.value` where its reader can wait. */
export class UnparsedText extends Error {
  readonly stored: StoredJson

  constructor(stored: StoredJson) {
    super('The text is long, and not parsed yet.')
    this.stored = stored
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * JSON text from the storage, parsed only if code reads the value. A list that goes from a search straight to a reply
 * is sent as the bytes SQLite joined; parsing 20 documents costs more than the search that found them.
 */
export class StoredJson {
  readonly text: string
  /** The text's entity tag, set by the code that sent it: a text that is sent again is hashed once. */
  tag: string | undefined = undefined
  #value: JsonValue | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The parsed value: the same object each time, so callers must not change it. Throws UnparsedText, see {@link reading}. */
  get value(): JsonValue {
    if (reading.canWait && this.#value === undefined && this.text.length > LONG) throw new UnparsedText(this)
    this.#value ??= JSON.parse(this.text) as JsonValue
    return this.#value
  }

  /**
   * The last document of a page, without parsing the others: 10,000 take 0.1 s. Each begins with its _meta, and in texts quotes have a backslash before
   * them. One that is inside of a document ends behind it, and cannot be parsed.
   */
  lastDocument(): JsonValue | undefined {
    if (this.#value === undefined)
      for (let at = this.text.length, tries = 0; at > 0 && tries < LAST_TRIES; tries++) {
        at = this.text.lastIndexOf(BETWEEN, at - 1)
        const last = at < 0 ? undefined : parsed(this.text.slice(at + 1, -1))
        if (last !== undefined) return last
      }
    return Array.isArray(this.value) ? this.value.at(-1) : undefined
  }

  /** `value`, parsed in steps. */
  *inSteps(): Steps<JsonValue> {
    this.#value ??= yield* jsonInSteps(this.text)
    return this.value
  }

  toJSON(): JsonValue {
    return this.value
  }
}
