import { inspect } from 'node:util'

/**
 * What a block gets for a pin of the type `secret`. It holds no text: `reveal` decrypts, and what is written out of it (JSON,
 * a log, a trace) is the name. A block gives the text to no out-pin, message or log.
 */
export class Secret {
  readonly name: string
  readonly #open: (noted: boolean) => string

  /** `open`: throws PinError where there is no text. `noted`: the use is one for the audit log. */
  constructor(name: string, open: (noted: boolean) => string) {
    this.name = name
    this.#open = open
  }

  /** The text. Throws PinError where it is not set or cannot be decrypted. */
  reveal(): string {
    return this.#open(true)
  }

  /** For what hides it, such as a trace: no use of it. Undefined where it cannot be had. */
  hidden(): string | undefined {
    try {
      return this.#open(false)
    } catch {
      return undefined
    }
  }

  toString(): string {
    return `(secret ${this.name})`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}
