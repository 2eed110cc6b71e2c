import type { Steps } from '../shared/in-turns.ts'
import type { JsonValue } from '../shared/json.ts'
import { jsonInSteps } from '../shared/json-in-steps.ts'

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

  /** The parsed value: the same object each time, so callers must not change it. */
  get value(): JsonValue {
    this.#value ??= JSON.parse(this.text) as JsonValue
    return this.#value
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
