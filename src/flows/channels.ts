/**
 * Messages that flows publish, for those who listen at this moment: on this node at once, on other nodes through the
 * database. A message is delivered at most once: what is published while a node is being restarted, or has lost the
 * database, is not delivered there later.
 *
 * Other nodes get messages in the order in which this node has published them: one statement at a time, with everything that
 * came meanwhile. So a client waits for no other node.
 */
import { type Clock, hasPassed } from '../shared/clock.ts'
import type { Capabilities } from '../storage/capabilities.ts'
import type { Message } from './run/message-buffer.ts'

export interface Channels {
  /** After the commit. Never waits and never throws. */
  publish(messages: readonly Message[]): void
  /** Gives a function that ends it. */
  listen(listener: (message: Message) => void): () => void
  close(): void
}

export interface ChannelsOptions {
  readonly capabilities: Pick<Capabilities, 'changes' | 'cluster'>
  readonly clock: Clock
  /** Hears of messages that other nodes do not get, in a sentence; once in ten seconds at most. */
  readonly warn: (message: string) => void
}

/** What nodes tell each other under; no storage has such a name. */
const TOPIC = 'published messages'
/** Characters of one statement. */
const MOST_TOGETHER = 256 * 1024
/** Characters that this node sends to others in a second: a node that was stopped for six seconds reads as much at once. */
const MOST_A_SECOND = 4 * 1024 * 1024
const WARN_PAUSE_MS = 10_000

export function openChannels({ capabilities, clock, warn }: ChannelsOptions): Channels {
  const { changes, cluster } = capabilities
  const listeners = new Set<(message: Message) => void>()
  let waiting: string[] = []
  const isAllowed = allowance(clock, MOST_A_SECOND)
  let isSending = false
  let warned = Number.NEGATIVE_INFINITY

  const unwatch = changes.watch(TOPIC, (texts) => {
    for (const text of texts ?? []) deliver(messageIn(text))
  })

  function deliver(message: Message | undefined): void {
    if (message) for (const listener of listeners) listener(message)
  }

  function lost(what: string): void {
    if (!hasPassed(WARN_PAUSE_MS, warned, clock())) return
    warned = clock()
    warn(`Published messages were not sent to other nodes: ${what}.`)
  }

  async function send(): Promise<void> {
    if (isSending || !cluster) return
    isSending = true
    try {
      while (waiting.length > 0) await cluster.send(TOPIC, nextOf(waiting))
    } catch (error) {
      waiting = []
      lost(error instanceof Error ? error.message : String(error))
    } finally {
      isSending = false
    }
  }

  return {
    publish(messages) {
      for (const message of messages) {
        deliver(message)
        if (!cluster) continue
        const text = JSON.stringify([message.channel, message.data])
        if (isAllowed(text.length)) waiting.push(text)
        else lost(`more than ${MOST_A_SECOND.toLocaleString('en-US')} characters a second`)
      }
      if (waiting.length > 0) void send()
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      unwatch()
      listeners.clear()
    },
  }
}

/** Gives whether the present second has room for so many more. */
function allowance(clock: Clock, mostASecond: number): (length: number) => boolean {
  let second = 0
  let characters = 0
  return (length) => {
    const now = Math.floor(clock() / 1000)
    if (now !== second) characters = 0
    second = now
    characters += length
    return characters <= mostASecond
  }
}

/** The first ones, taken out, at least one. */
function nextOf(waiting: string[]): string[] {
  let length = 0
  let count = 0
  while (count < waiting.length && (count === 0 || length < MOST_TOGETHER)) {
    length += waiting[count]?.length ?? 0
    count += 1
  }
  return waiting.splice(0, count)
}

function messageIn(text: string): Message | undefined {
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value)) return undefined
  const [channel, data] = value
  return typeof channel === 'string' && typeof data === 'string' ? { channel, data } : undefined
}
