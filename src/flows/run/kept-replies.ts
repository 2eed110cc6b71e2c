/**
 * Replies of flows that only read (`repeatable-flow.ts`), sent again for the same path parameters and query
 * (`address-key.ts`) until something that the flow has read is written: a document, a page of a search, or else anything
 * in the storage, or a value of the environment or a field, which rarely change: then all replies are made again. Replies do not expire by time.
 *
 * It saves the run, its blocks and its searches: such a request costs as much as one whose flow replies with a constant.
 * Where it does not help it costs two look-ups and the memory below. A reply is kept at the second request for its address,
 * unless the replies sent since the first one would fill the memory: most addresses of a large storage are requested once,
 * and keeping their replies would push out the others.
 *
 * Only where a process learns of every write before any client can see it: on SQLite, in the writer and in the reading
 * processes.
 */

import { ChannelReply, FileBody, PlainText, type Reply } from '../../blocks/reply.ts'
import { boundedMap } from '../../shared/bounded-map.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isLargerThan } from '../../shared/json-size.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { Database } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import { addressKey } from './address-key.ts'
import { NotedReads } from './noted-reads.ts'
import type { RunEnd, RunFlow, RunStart } from './run-start.ts'

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

interface KeptRepliesParts {
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

interface Kept {
  readonly reads: NotedReads
  readonly env: JsonObject
  readonly references: unknown
  readonly reply: Reply
}

const repeated: RunEnd = { run: '', replied: true, error: undefined, result: undefined }

/** Gives a function that answers a request with the kept reply, or by running the flow. */
export function keptReplies({
  database,
  versions,
  env,
  references,
  unruled,
  run,
}: KeptRepliesParts): RunFlow {
  const replies = boundedMap<string, Kept>(CHARACTERS)
  /** What was replied once, as if it were kept. */
  const asked = boundedMap<string, true>(CHARACTERS)
  const numbers = new WeakMap<CompiledFlow, number>()
  let flows = 0

  /** Each deploy gives a flow another number. */
  function numberOf(flow: CompiledFlow): number {
    const known = numbers.get(flow)
    if (known !== undefined) return known
    flows += 1
    numbers.set(flow, flows)
    return flows
  }

  function runOnce(key: string, start: RunStart, onReply: (reply: Reply) => void): MaybePromise<RunEnd> {
    const noting: RunStart = {
      ...start,
      onReply(reply) {
        onReply(reply)
        const size = isText(reply.value) ? reply.value.text.length : 0
        asked.set(key, true, size + 2 * key.length + OVERHEAD)
      },
    }
    return run(noting, database)
  }

  function runAndKeep(key: string, start: RunStart, onReply: (reply: Reply) => void): MaybePromise<RunEnd> {
    const reads = new NotedReads(versions)
    const before = env()
    const referencesBefore = references?.()
    let sent: Reply | undefined
    const noting: RunStart = {
      ...start,
      onReply(reply) {
        onReply(reply)
        sent = reply
      },
    }
    const ended = run(noting, { session: (origin) => reads.session(database.session(origin)) })
    return andThen(ended, (end) => {
      const reply = sent && asText(sent)
      const size = reply?.value.text.length ?? 0
      if (reply && size <= LARGEST && !end.error && reads.areUnchanged && env() === before)
        replies.set(
          key,
          { reads, env: before, references: referencesBefore, reply },
          size + 2 * key.length + OVERHEAD,
        )
      return end
    })
  }

  return (start) => {
    const { flow, request, onReply } = start
    if (!flow.repeatable || !request || !onReply || start.beforeReply || start.traced || start.noting)
      return run(start, database)
    if (flow.asUser && !unruled()) return run(start, database)
    const address = addressKey(request)
    if (address === undefined) return run(start, database)
    const key = `${numberOf(flow)} ${address}`
    const known = replies.get(key)
    if (known?.reads.areUnchanged && known.env === env() && known.references === references?.()) {
      onReply(known.reply)
      return repeated
    }
    if (known || asked.get(key)) return runAndKeep(key, start, onReply)
    return runOnce(key, start, onReply)
  }
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
