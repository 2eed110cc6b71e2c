/** What a run publishes, kept back until the transaction that it belongs to is committed. */
export interface Message {
  readonly channel: string
  /** JSON. */
  readonly data: string
}

/** Of one run between two commits. */
const MOST_MESSAGES = 1_000
const MOST_CHARACTERS = 4 * 1024 * 1024

export class MessageBuffer {
  #messages: Message[] = []
  #characters = 0

  /** False when there are too many. */
  add(message: Message): boolean {
    this.#characters += message.data.length
    if (this.#messages.length >= MOST_MESSAGES || this.#characters > MOST_CHARACTERS) return false
    this.#messages.push(message)
    return true
  }

  /** Those that the commit that begins now makes true. They are forgotten here, whether it succeeds or not. */
  take(): readonly Message[] {
    const messages = this.#messages
    this.#messages = []
    this.#characters = 0
    return messages
  }
}
