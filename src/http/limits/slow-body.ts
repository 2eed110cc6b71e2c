/**
 * Time for bodies that take longer than `limits.request` allows: uploads and imports.
 *
 * Node limits the time of a whole request per server, not per route. When it is over, Node hands the connection to the
 * server's `clientErrorHandler` and forgets it; it is the handler that ends it. So a route that reads a large body takes
 * its connection under its own watch, and the handler leaves those alone ({@link hasOwnTimeLimit}). The watch is as
 * strict about senders that keep a connection with a byte now and then: what counts is that enough arrives all the time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'

export interface SlowBodyLimits {
  /** Milliseconds between two looks. */
  readonly pause: number
  /** Bytes that must have arrived in between. */
  readonly bytes: number
  /** Milliseconds for the whole body. */
  readonly total: number
}

/** 16 KiB in 15 s is slower than any line that a person would upload by; an hour is 500 MB at 1.2 Mbit/s. */
const slowBodyLimits: SlowBodyLimits = { pause: 15_000, bytes: 16 * 1024, total: 3_600_000 }

const watched = new WeakSet<Socket>()

/** Whether a route watches over the time of what is being read from the connection. */
export function hasOwnTimeLimit(socket: object): boolean {
  return watched.has(socket as Socket)
}

/** A hook for routes with large bodies. Runs after the permission check: refused callers do not get this time. */
export function allowSlowBody(limits: SlowBodyLimits = slowBodyLimits): onRequestHookHandler {
  return (request, reply, done) => {
    timeSlowBody(request.raw, reply.raw, limits)
    done()
  }
}

/** Watches over the time of one body until it ends, or until the function that it gives is called. */
export function timeSlowBody(
  raw: IncomingMessage,
  reply: ServerResponse,
  limits: SlowBodyLimits = slowBodyLimits,
): () => void {
  const { socket } = raw
  let before = socket.bytesRead
  let looks = Math.ceil(limits.total / limits.pause)
  watched.add(socket)
  const timer = setInterval(() => {
    const arrived = socket.bytesRead - before
    before = socket.bytesRead
    looks -= 1
    // What waits to be read here is ours to wait for, not the sender's fault.
    if (looks <= 0 || (arrived < limits.bytes && raw.readableLength === 0)) socket.destroy()
  }, limits.pause).unref()
  const over = () => {
    clearInterval(timer)
    watched.delete(socket)
  }
  raw.once('end', over)
  raw.once('close', over)
  reply.once('close', over)
  return over
}
