/**
 * Replies of flows that only read (`compile-trigger.ts`), sent again for the same path parameters and query
 * (`read-set.ts`) until something that the flow has read is written: a document, a page of a search, or else anything
 * in the storage, or a value of the environment or a field, which rarely change: then all replies are made again. Replies do not expire by time.
 *
 * It saves the run, its blocks and its searches: such a request costs as much as one whose flow replies with a constant.
 * Where it does not help it costs two look-ups and the memory below. A reply is kept at the second request for its address,
 * unless the replies sent since the first one would fill the memory: most addresses of a large storage are requested once,
 * and keeping their replies would push out the others.
 *
 * On SQLite the one process learns of every write before any client can see it. On PostgreSQL a request first asks the database what others have written since (`catchUp`), in one question with all requests of its turn of the event
 * loop: it then costs the database a fraction of the run, and the client one round trip. A reply that changes before it is ever
 * sent again costs that question for nothing, so it is kept the more rarely the more often this happens.
 */
import { ChannelReply, FileBody, PlainText, type Reply } from '../../blocks/reply.ts'
import { isLargerThan, type JsonObject } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { Database, Session } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import { addressKey, ReadSet } from './read-set.ts'
import type { ReplyListener, RunEnd, RunFlow, RunStart } from './run-start.ts'

/** Runs with the sessions of a storage. */
export type RunOn = (start: RunStart, database: Pick<Database, 'session'>) => MaybePromise<RunEnd>

/** Of their texts, in characters, in all. Pages share theirs with the results of the searches they come from. */
const CHARACTERS = 32 * 1024 * 1024
/** Larger ones would push out hundreds of others. */
const LARGEST = 256 * 1024
/** Values of a reply that the flow put together. */
const MOST_VALUES = 10_000
/** What an entry takes beside its text, in characters, roughly. */
const OVERHEAD = 500

interface ReplyCacheParts {
  readonly database: Database
  readonly versions: ReadVersions
  /** Another object after each change of a value of the environment. */
  readonly env: () => JsonObject
  /** Another object after each change of a field. */
  readonly references?: (() => unknown) | undefined
  /** Whether no storage has rules that show it to one user and not to another one. */
  readonly unruled: () => boolean
  readonly run: RunOn
}

interface CachedReply {
  readonly reads: ReadSet
  readonly env: JsonObject
  readonly references: unknown
  readonly reply: Reply
  /** How often in a row a reply to this address was kept and had changed before it was sent again. */
  readonly lost: number
  wasSent: boolean
}

/** An address whose reply is not kept. */
interface Asked {
  readonly lost: number
  /** Requests for it until the reply is kept. */
  readonly left: number
}

/** 2 to the power of this, less 2, is how many requests are let pass at most before a reply is kept. */
const MOST_LOST = 6

const repeated: RunEnd = { run: '', replied: true, error: undefined, result: undefined }
const firstTime: Asked = { lost: 0, left: 0 }

/** Gives a function that answers a request with the kept reply, or by running the flow. */
export function replyCache(parts: ReplyCacheParts): RunFlow {
  const cache = new ReplyCache(parts)
  return (start) => cache.answer(start)
}

/** A flow's start by a request whose reply may be kept, and its key. */
interface Asking {
  readonly key: string
  readonly start: RunStart
  readonly onReply: (reply: Reply) => void
}

class ReplyCache {
  readonly #parts: ReplyCacheParts
  readonly #replies = lruCache<string, CachedReply>(CHARACTERS)
  /** What was replied once, as if it were kept. */
  readonly #asked = lruCache<string, Asked>(CHARACTERS)
  readonly #numbers = new WeakMap<CompiledFlow, number>()
  #flows = 0

  constructor(parts: ReplyCacheParts) {
    this.#parts = parts
  }

  answer(start: RunStart): MaybePromise<RunEnd> {
    const { database, versions, run, unruled } = this.#parts
    const { flow, request, onReply } = start
    if (!flow.cacheable || !request || !onReply || start.beforeReply || start.traced || start.tracking)
      return run(start, database)
    if (flow.asUser && !unruled()) return run(start, database)
    const address = addressKey(request)
    if (address === undefined) return run(start, database)
    const asking = { key: `${this.#numberOf(flow)} ${address}`, start, onReply }
    const { catchUp } = versions
    if (!catchUp) return this.#answerNow(asking)
    // The reads of a unit are of the moment of its first one, and not of that of each.
    if (start.unit) return run(start, database)
    if (!this.#replies.has(asking.key)) {
      const asked = this.#asked.get(asking.key)
      if (!asked || asked.left > 0) return this.#runOnce(asking, asked ? passed(asked) : firstTime)
    }
    return catchUp().then((isKnown) => (isKnown ? this.#answerNow(asking) : run(start, database)))
  }

  /** As far as this process has learned. */
  #answerNow(asking: Asking): MaybePromise<RunEnd> {
    const { versions, env, references } = this.#parts
    const { key, onReply } = asking
    const known = this.#replies.get(key)
    if (known?.reads.areUnchanged && known.env === env() && known.references === references?.()) {
      known.wasSent = true
      onReply(known.reply)
      return repeated
    }
    if (known && versions.catchUp) return this.#lose(asking, known)
    const asked = this.#asked.get(key)
    return known || asked ? this.#runAndKeep(asking, asked?.lost ?? 0) : this.#runOnce(asking, firstTime)
  }

  /** It has changed. */
  #lose(asking: Asking, { wasSent, lost }: CachedReply): MaybePromise<RunEnd> {
    const times = wasSent ? 0 : Math.min(lost + 1, MOST_LOST)
    const left = 2 ** times - 2
    if (left <= 0) return this.#runAndKeep(asking, times)
    this.#replies.delete(asking.key)
    return this.#runOnce(asking, { lost: times, left })
  }

  #runOnce({ key, start, onReply }: Asking, asked: Asked): MaybePromise<RunEnd> {
    const tracking: RunStart = {
      ...start,
      onReply: (reply) => {
        onReply(reply)
        const size = isText(reply.value) ? reply.value.text.length : 0
        this.#asked.set(key, asked, size + 2 * key.length + OVERHEAD)
      },
    }
    return this.#parts.run(tracking, this.#parts.database)
  }

  #runAndKeep({ key, start, onReply }: Asking, lost: number): MaybePromise<RunEnd> {
    const { database, versions, env, references, run } = this.#parts
    const reads = new ReadSet(versions)
    const before = env()
    const referencesBefore = references?.()
    let sent: Reply | undefined
    const tracking: RunStart = {
      ...start,
      onReply(reply) {
        onReply(reply)
        sent = reply
      },
    }
    const ended = run(tracking, { session: (origin) => reads.session(database.session(origin)) })
    return andThen(ended, (end) => {
      const reply = sent && asText(sent)
      const size = reply?.value.text.length ?? 0
      if (reply && size <= LARGEST && !end.error && reads.areUnchanged && env() === before)
        this.#replies.set(
          key,
          { reads, env: before, references: referencesBefore, reply, lost, wasSent: false },
          size + 2 * key.length + OVERHEAD,
        )
      return end
    })
  }

  /** Each deploy gives a flow another number. */
  #numberOf(flow: CompiledFlow): number {
    const known = this.#numbers.get(flow)
    if (known !== undefined) return known
    this.#flows += 1
    this.#numbers.set(flow, this.#flows)
    return this.#flows
  }
}

function passed({ lost, left }: Asked): Asked {
  return { lost, left: left - 1 }
}

function isText(value: Reply['value']): value is StoredJson | PlainText {
  return value instanceof StoredJson || value instanceof PlainText
}

function isNoText(value: Reply['value']): value is FileBody | ChannelReply {
  return value instanceof FileBody || value instanceof ChannelReply
}

/** With its body as text, written once; undefined for what has none or is too large for that. */
function asText(reply: Reply): (Reply & { readonly value: StoredJson | PlainText }) | undefined {
  const { value } = reply
  if (isText(value)) return { ...reply, value }
  if (value === undefined || isNoText(value) || isLargerThan(value, MOST_VALUES, LARGEST)) return undefined
  return { ...reply, value: new StoredJson(JSON.stringify(value)) }
}

/**
 * The one reply of a run: asked for (a second one is refused), then committed together with everything that was written
 * before it, then sent. A run that fails in between has answered in another way, and sends nothing more.
 */
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
