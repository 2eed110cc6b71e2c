/**
 * The one reply of a run: asked for (a second one is refused), then committed together with everything that was written
 * before it, then sent. A run that fails in between has answered in another way, and sends nothing more.
 */
import type { Reply } from '../../blocks/reply.ts'
import type { JsonValue } from '../../shared/json.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'

export interface ReplyListener {
  /** Called first, before anything is committed. Throws where the client cannot get such a reply: then the run fails and has written nothing. */
  readonly checkReply?: (reply: Reply) => void
  /** Called at most once, in the transaction that the reply waits for. */
  readonly beforeReply?: (session: Session, reply: Reply) => unknown
  /** Called at most once, in the transaction of a run that ends without a reply, with what its flow gave. */
  readonly beforeEnd?: (session: Session, result: JsonValue | undefined) => unknown
  /** Called at most once, when everything written before is durable. */
  readonly onReply?: (reply: Reply) => void
}

export class RunReply {
  readonly #session: Session
  readonly #commit: () => MaybePromise<void>
  readonly #listener: ReplyListener
  #asked = false
  #sent = false
  #closed = false
  /** Under way: the commit before the reply. */
  #committing: Promise<void> | undefined

  constructor(session: Session, commit: () => MaybePromise<void>, listener: ReplyListener) {
    this.#session = session
    this.#commit = commit
    this.#listener = listener
  }

  /** Whether a block has replied. */
  get asked(): boolean {
    return this.#asked
  }

  /** Whether `onReply` was called, and took it. */
  get sent(): boolean {
    return this.#sent
  }

  /** The commit that the reply waits for, if there is one. Rejects when it fails. */
  get committing(): Promise<void> | undefined {
    return this.#committing
  }

  /** Commits, then sends. False if there was a reply before. */
  ask(reply: Reply): boolean {
    if (this.#asked) return false
    this.#listener.checkReply?.(reply)
    this.#asked = true
    const committed = andThen(this.#listener.beforeReply?.(this.#session, reply), this.#commit)
    if (!isPromise(committed)) {
      this.#send(reply)
      return true
    }
    this.#committing = committed.then(() => this.#send(reply))
    // Awaited before the next step and at the end; this only keeps an early failure from being called unhandled.
    this.#committing.catch(() => undefined)
    return true
  }

  /** From now on nothing is sent: the run has failed. */
  close(): void {
    this.#closed = true
  }

  #send(reply: Reply): void {
    if (this.#sent || this.#closed) return
    this.#listener.onReply?.(reply)
    // Only now: a reply that is too long to be written throws above, and the caller then gets the run's error.
    this.#sent = true
  }
}
