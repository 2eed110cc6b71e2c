/**
 * Answers to GET and HEAD that a block keeps for some seconds. Each process keeps its own, the same for all runs that send
 * the same request: method, address, headers, and the connection with its secret as they are now. What a run sends for its
 * own user is in one of these, so no run gets the answer of another user's request.
 */
import { createHash } from 'node:crypto'
import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import { type LruCache, lruCache } from '../../shared/lru-cache.ts'
import type { OpenedConnection } from '../http-connection.ts'
import type { Answer, OutgoingRequest } from './send-request.ts'

interface CachedAnswer {
  readonly answer: Answer
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Bytes of all answers of a process, and of one. */
const MOST_BYTES = 32 * 1024 * 1024
const LARGEST = 2 * 1024 * 1024
/** Of the entry itself. Headers are bounded by the client: 16 KiB. */
const AROUND = 20_000

/** By the client, which stands for the hosts that are open to it. */
const answers = new WeakMap<Agent, LruCache<string, CachedAnswer>>()
/** A changed connection has a new number. */
const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** Requests under way, by the client, as {@link answers}: at most so many different ones, further ones are each sent. */
const underWay = new WeakMap<Agent, Map<string, Promise<Answer>>>()
const MOST_UNDER_WAY = 1_000

export interface CachedAnswers {
  /**
   * Sends, unless the same request is under way: then its answer, or its failure, is that of all who ask meanwhile. One that is stopped
   * with its run, and an answer that must not be stored, is for its own run alone.
   */
  sendOnce(send: () => Promise<Answer>, signal: AbortSignal): Promise<{ answer: Answer; isOwn: boolean }>
  find(now: number): Answer | undefined
  /** Only of an answer with a status from 200 to 299 that does not forbid it. */
  keep(answer: Answer, now: number): void
}

/** Undefined for a request whose answer is not kept. `maxSize`: bytes that the block takes; `limits`: its times and attempts. */
export function cachedAnswers(
  agent: Agent,
  request: OutgoingRequest,
  connection: OpenedConnection | undefined,
  {
    seconds,
    maxSize,
    limits,
  }: { readonly seconds: number; readonly maxSize: number; readonly limits: string },
): CachedAnswers | undefined {
  const { method, body } = request
  if (seconds <= 0 || body !== undefined || (method !== 'GET' && method !== 'HEAD')) return undefined
  const all = answers.get(agent) ?? lruCache<string, CachedAnswer>(MOST_BYTES)
  answers.set(agent, all)
  const key = keyOf(request, connection, maxSize)
  const pending = underWay.get(agent) ?? new Map<string, Promise<Answer>>()
  underWay.set(agent, pending)
  // One who waits ends no later than its own times allow: those are the same.
  const name = `${key} ${limits}`
  return {
    async sendOnce(send, signal) {
      for (;;) {
        const known = pending.get(name)
        if (!known && pending.size >= MOST_UNDER_WAY) return { answer: await send(), isOwn: true }
        if (!known) {
          const sent = send().finally(() => pending.delete(name))
          pending.set(name, sent)
          return { answer: await sent, isOwn: true }
        }
        const answer = await unlessStopped(known, signal)
        if (answer === undefined) continue
        return isStorable(answer) ? { answer, isOwn: false } : { answer: await send(), isOwn: true }
      }
    },
    find(now) {
      const cached = all.get(key)
      if (cached && now < cached.until) return cached.answer
      all.delete(key)
      return undefined
    },
    keep(answer, now) {
      const { code, bytes } = answer
      if (code < 200 || code > 299 || !isStorable(answer) || bytes.byteLength > LARGEST) return
      all.set(key, { answer, until: now + seconds * 1000 }, bytes.byteLength + AROUND)
    },
  }
}

function isStorable({ headers }: Answer): boolean {
  return !/no-store/i.test(String(headers['cache-control'] ?? ''))
}

/** The answer to the request of another run; undefined where that run was stopped. Throws its failure, or that this run is stopped. */
function unlessStopped(other: Promise<Answer>, signal: AbortSignal): Promise<Answer | undefined> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const failed = (error: unknown) => (error instanceof QuoinError ? reject(error) : resolve(undefined))
    other.then(resolve, failed).finally(() => signal.removeEventListener('abort', stop))
  })
}

function keyOf(
  { url, method, headers }: OutgoingRequest,
  connection: OpenedConnection | undefined,
  maxSize: number,
): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = [method, url.href, sorted, maxSize, connection ? signInOf(connection) : null]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** The secret too: another one may open other data under the same connection. */
function signInOf({ identity, signIn, baseUrl }: OpenedConnection): readonly [number, string] {
  if (!numbers.has(identity)) {
    lastNumber += 1
    numbers.set(identity, lastNumber)
  }
  // A stored reply is refused too where the list of hosts has become shorter.
  if (signIn.kind === 'oauth2') signIn.secret.revealTo(new URL(signIn.tokenUrl))
  return [numbers.get(identity) ?? 0, signIn.kind === 'none' ? '' : signIn.secret.revealTo(baseUrl)]
}
