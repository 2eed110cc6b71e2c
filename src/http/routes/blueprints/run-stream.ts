/** Server-sent events of traced runs: sent to clients with an open list of runs. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'

export interface RunStreams {
  /** UNAVAILABLE when there are too many. `mayStay`: whether the reader may still see it. */
  open(reply: FastifyReply, blueprint: string | undefined, mayStay: () => Promise<boolean>): FastifyReply
  tell(summary: JsonObject): void
  close(): void
}

interface Open {
  readonly out: Readable
  readonly blueprint: string | undefined
  readonly mayStay: () => Promise<boolean>
}

const MOST_STREAMS = 100
/** Bytes that wait for a reader. */
const MOST_WAITING = 256 * 1024
/** Something is sent at least this often, so that nothing in between takes the connection for dead. */
const BEAT_MS = 10_000

export function runStreams(): RunStreams {
  const streams = new Set<Open>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function end(stream: Open): void {
    if (!streams.delete(stream)) return
    if (streams.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    stream.out.push(null)
  }

  function send(stream: Open, text: string): void {
    if (!stream.out.push(text) && stream.out.readableLength > MOST_WAITING) end(stream)
  }

  function beat(): void {
    for (const stream of streams) {
      send(stream, ': still here\n\n')
      stream.mayStay().then(
        (stays) => stays || end(stream),
        () => end(stream),
      )
    }
  }

  return {
    open(reply, blueprint, mayStay) {
      if (closed || streams.size >= MOST_STREAMS)
        throw new QuoinError('UNAVAILABLE', 'Too many clients stream runs of this node. Try again later.', {
          retryAfter: 30,
        })
      const out = new Readable({ read: () => undefined, highWaterMark: 1024 })
      const stream: Open = { out, blueprint, mayStay }
      streams.add(stream)
      out.once('close', () => end(stream))
      timer ??= setInterval(beat, BEAT_MS).unref()
      send(stream, 'retry: 3000\n\n')
      return (
        reply
          .header('cache-control', 'no-store')
          // Proxies that gather replies would hold the events back.
          .header('x-accel-buffering', 'no')
          .type('text/event-stream; charset=utf-8')
          .send(out)
      )
    },
    tell(summary) {
      for (const stream of streams)
        if (stream.blueprint === undefined || stream.blueprint === summary.blueprint)
          send(stream, `event: run\ndata: ${JSON.stringify(summary)}\n\n`)
    },
    close() {
      closed = true
      for (const stream of streams) end(stream)
    },
  }
}
