import { andThen } from '../../shared/maybe-promise.ts'
import type { LiveTools } from './live-tools.ts'
import type { OpenStream } from './streams.ts'

/** Messages that wait for one client while it is looked up, and bytes that it has not read. */
const MOST_WAITING = 200
const MOST_UNREAD = 256 * 1024

/** One client of a channel: gets messages in their order, each after a look at who it is. */
export class Subscriber {
  readonly open: OpenStream
  /** Milliseconds since 1970. */
  readonly until: number
  readonly #tools: Pick<LiveTools, 'turns' | 'mayStay' | 'clock'>
  #waiting: Buffer[] = []
  #isAsked = false

  constructor(open: OpenStream, until: number, tools: Pick<LiveTools, 'turns' | 'mayStay' | 'clock'>) {
    this.open = open
    this.until = until
    this.#tools = tools
  }

  /** A client that cannot take it is dropped: it would miss messages without noticing. */
  offer(bytes: Buffer): void {
    const { stream } = this.open
    if (this.#waiting.length >= MOST_WAITING || stream.waiting > MOST_UNREAD) stream.drop()
    if (!stream.isOpen) return
    this.#waiting.push(bytes)
    if (this.#isAsked) return
    this.#isAsked = true
    this.#tools.turns.add(() => this.#deliver())
  }

  #deliver(): void {
    void andThen(this.#tools.mayStay(this.open), (may) => {
      const waiting = this.#waiting
      this.#waiting = []
      this.#isAsked = false
      if (may) for (const bytes of waiting) this.open.stream.send(bytes, this.#tools.clock())
    })
  }
}
