/**
 * Ends connections whose clients do not read what they asked for. What counts is that bytes go out all the time, as with
 * slow senders (`slow-body.ts`): Node's own timeouts also count what a client sends, which costs it nothing.
 *
 * A connection on which nothing waits to be sent is none of this: a run may take its time, and an event stream be silent.
 */
import type { Socket } from 'node:net'

export interface UnreadLimits {
  /** Milliseconds between two looks. */
  readonly pause: number
  /** So many looks without enough going out end a connection. Counted, not timed: a process may have been stopped. */
  readonly looks: number
  /** Bytes that must have gone out in between. */
  readonly bytes: number
}

/** 32 KiB in 30 s is slower than any line that a person would read by. */
const unreadLimits: UnreadLimits = { pause: 5_000, looks: 6, bytes: 32 * 1024 }

export interface UnreadReplies {
  /** Watches a connection until it ends. */
  watch(socket: Socket): void
  /** Looks at all of them once; `open` does so by itself. */
  look(): void
  close(): void
}

interface Progress {
  sent: number
  looks: number
}

export function unreadReplies(limits: UnreadLimits = unreadLimits): UnreadReplies {
  const sockets = new Set<Socket>()
  const waiting = new WeakMap<Socket, Progress>()

  function lookAt(socket: Socket): void {
    if (socket.writableLength === 0) {
      waiting.delete(socket)
      return
    }
    const sent = sentBytes(socket)
    const before = waiting.get(socket)
    if (!before || sent - before.sent >= limits.bytes) waiting.set(socket, { sent, looks: 0 })
    else {
      before.looks += 1
      if (before.looks >= limits.looks) socket.destroy()
    }
  }

  function look(): void {
    for (const socket of sockets) lookAt(socket)
  }

  const timer = setInterval(look, limits.pause).unref()
  return {
    watch(socket) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    },
    look,
    close: () => clearInterval(timer),
  }
}

/**
 * Bytes that the system has taken. A long reply is one write, of which the socket itself tells nothing until all of it is
 * gone, so the rest of it is asked of the handle, as Node's own timeouts do. Nothing of that is documented: should it be
 * missing, a write counts when it is handed over, and a test fails.
 */
export function sentBytes(socket: Socket): number {
  const handle: unknown = '_handle' in socket ? socket._handle : undefined
  const queue =
    typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle ? handle.writeQueueSize : 0
  return socket.bytesWritten - (typeof queue === 'number' ? queue : 0)
}
