/** Clients that create, read and list notes through the load balancer and remember what they were told. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject } from '../../src/shared/json.ts'
import { callNode, type NodeReply } from './call-node.ts'

export interface NoteClients {
  /** Guid → key of each note whose 201 was received. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** Keys of the notes that were sent and not acknowledged: they may be there or not. */
  readonly unanswered: ReadonlySet<string>
  /** How often what was answered, such as `POST 201`. */
  readonly statuses: ReadonlyMap<string, number>
  /** Unexpected replies, the first of them. */
  readonly unexpected: readonly string[]
  /** Milliseconds. */
  readonly slowest: number
  /** Longest time in which no write succeeded, milliseconds. */
  readonly silence: number
  /** Resolves when all clients have their last answer. */
  stop(): Promise<void>
}

export interface NoteLoad {
  readonly clients: number
  /** Between two requests of a client, milliseconds. */
  readonly pause: number
}

const MAX_REPORTED = 20
const LIST_LENGTH = 10

export function openNoteClients(address: string, { clients, pause }: NoteLoad): NoteClients {
  const acknowledged = new Map<string, string>()
  const guids: string[] = []
  const unanswered = new Set<string>()
  const statuses = new Map<string, number>()
  const unexpected: string[] = []
  let slowest = 0
  let silence = 0
  let lastWrite = performance.now()
  let stopped: number | undefined

  function note(what: string, reply: NodeReply, expected: number): boolean {
    const kind = `${what} ${reply.status}`
    statuses.set(kind, (statuses.get(kind) ?? 0) + 1)
    slowest = Math.max(slowest, reply.took)
    if (reply.status === expected) return true
    const reported = reply.status === 503 && reply.header('retry-after') !== null
    if (!reported && unexpected.length < MAX_REPORTED)
      unexpected.push(`${kind} after ${Math.round(reply.took)} ms: ${JSON.stringify(reply.body)}`)
    return false
  }

  async function create(): Promise<boolean> {
    const key = randomUUID()
    unanswered.add(key)
    const reply = await callNode(address, '/notes', { method: 'POST', body: { key } })
    const done = note('POST', reply, 201)
    if (!done) return false
    const meta = isJsonObject(reply.body) ? reply.body._meta : undefined
    const guid = isJsonObject(meta) ? meta.guid : undefined
    if (typeof guid !== 'string') throw new TypeError(`A note without a guid: ${JSON.stringify(reply.body)}`)
    unanswered.delete(key)
    acknowledged.set(guid, key)
    guids.push(guid)
    silence = Math.max(silence, performance.now() - lastWrite)
    lastWrite = performance.now()
    return true
  }

  /** One that was acknowledged, perhaps by another node a moment ago. */
  async function read(): Promise<boolean> {
    const recent = guids.length - 1 - Math.floor(Math.random() ** 4 * guids.length)
    const guid = guids[recent]
    if (guid === undefined) return true
    const reply = await callNode(address, `/notes/${guid}`)
    const done = note('GET', reply, 200)
    const key = isJsonObject(reply.body) ? reply.body.key : undefined
    if (done && key !== acknowledged.get(guid)) unexpected.push(`GET gave another note for ${guid}`)
    return done
  }

  async function list(): Promise<boolean> {
    const before = guids.length
    const reply = await callNode(address, '/notes')
    const done = note('LIST', reply, 200)
    const length = Array.isArray(reply.body) ? reply.body.length : 0
    if (done && length < Math.min(before, LIST_LENGTH)) unexpected.push(`LIST gave ${length} of ${before}`)
    return done
  }

  async function client(): Promise<void> {
    while (stopped === undefined) {
      const chance = Math.random()
      const done = await (chance < 0.5 ? create() : chance < 0.8 ? read() : list())
      // Not the whole second that retry-after says: a storm is impatient.
      await wait(done ? pause * (0.5 + Math.random()) : 100)
    }
  }

  const working = Promise.all(Array.from({ length: clients }, client))
  return {
    acknowledged,
    unanswered,
    statuses,
    unexpected,
    get slowest() {
      return slowest
    },
    get silence() {
      return Math.max(silence, (stopped ?? performance.now()) - lastWrite)
    },
    async stop() {
      stopped = performance.now()
      await working
    },
  }
}
