import { inspect } from 'node:util'

/** What the text is for: to be sent to an address, to be compared, or to be hidden, which is no use for the audit log. */
export type SecretPurpose = URL | 'compare' | 'hide'

/**
 * What a block gets for a pin of the type `secret`. It holds no text: `reveal` decrypts, and what is written out of it (JSON,
 * a log, a trace) is the name. A block gives the text to no out-pin, message or log.
 */
export class Secret {
  readonly name: string
  readonly #open: (use: SecretPurpose) => string

  /** `open`: throws PinError where there is no text for that purpose. */
  constructor(name: string, open: (use: SecretPurpose) => string) {
    this.name = name
    this.#open = open
  }

  /** The text, to be sent to this address. Throws PinError where it is not set, cannot be decrypted, or may not be sent there. */
  revealTo(url: URL): string {
    return this.#open(url)
  }

  /** The text, to be compared with what came in: it is sent nowhere. Throws PinError as {@link revealTo}. */
  revealToCompare(): string {
    return this.#open('compare')
  }

  /** For what hides it, such as a trace: no use of it. Undefined where it cannot be had. */
  hidden(): string | undefined {
    try {
      return this.#open('hide')
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
