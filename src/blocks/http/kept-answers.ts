/**
 * Answers to GET and HEAD that a block keeps for some seconds. Each process keeps its own, the same for all runs that send
 * the same request: method, address, headers, and the connection with its secret as they are now. What a run sends for its
 * own user is in one of these, so no run gets the answer of another user's request.
 */
import { createHash } from 'node:crypto'
import type { Agent } from 'undici'
import { type BoundedMap, boundedMap } from '../../shared/bounded-map.ts'
import type { OpenedConnection } from '../http-connection.ts'
import type { Answer, OutgoingRequest } from './send-request.ts'

interface KeptAnswer {
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
const answers = new WeakMap<Agent, BoundedMap<string, KeptAnswer>>()
/** A changed connection has a new number. */
const numbers = new WeakMap<object, number>()
let lastNumber = 0

export interface KeptAnswers {
  find(now: number): Answer | undefined
  /** Only of an answer with a status from 200 to 299 that does not forbid it. */
  keep(answer: Answer, now: number): void
}

/** Undefined for a request whose answer is not kept. `maxSize`: bytes that the block takes. */
export function keptAnswers(
  agent: Agent,
  request: OutgoingRequest,
  connection: OpenedConnection | undefined,
  { seconds, maxSize }: { readonly seconds: number; readonly maxSize: number },
): KeptAnswers | undefined {
  const { method, body } = request
  if (seconds <= 0 || body !== undefined || (method !== 'GET' && method !== 'HEAD')) return undefined
  const all = answers.get(agent) ?? boundedMap<string, KeptAnswer>(MOST_BYTES)
  answers.set(agent, all)
  const key = keyOf(request, connection, maxSize)
  return {
    find(now) {
      const kept = all.get(key)
      if (kept && now < kept.until) return kept.answer
      all.delete(key)
      return undefined
    },
    keep(answer, now) {
      const { code, headers, bytes } = answer
      const isGood = code >= 200 && code <= 299 && !/no-store/i.test(String(headers['cache-control'] ?? ''))
      if (!isGood || bytes.byteLength > LARGEST) return
      all.set(key, { answer, until: now + seconds * 1000 }, bytes.byteLength + AROUND)
    },
  }
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
function signInOf({ identity, signIn }: OpenedConnection): readonly [number, string] {
  if (!numbers.has(identity)) {
    lastNumber += 1
    numbers.set(identity, lastNumber)
  }
  return [numbers.get(identity) ?? 0, signIn.kind === 'none' ? '' : signIn.secret.reveal()]
}
