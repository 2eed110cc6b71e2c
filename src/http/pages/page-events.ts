/**
 * Server-sent events: an open page hears when a document of one of its tables' storages has changed, on any node.
 *
 * All streams of a node share one timer that compares the storages' versions (`live/storage-news.ts`): a busy storage costs
 * a stream two events a second, however much is written.
 *
 * A stream ends when its visitor signs out or may not see the page any more, when the page's blueprint is deployed again or
 * deactivated, when the server closes, and when its reader is too slow. The browser then asks again by itself.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { DataTable } from '../../shared/pages/page-table.ts'
import type { StorageNews } from '../live/storage-news.ts'

const TICK_MS = 500
/** Something is sent at least this often, so that nothing in between takes the connection for dead. */
const QUIET_TICKS = 50
/** Between two looks whether the visitor may still be here. */
const CHECK_TICKS = 4
const MOST_STREAMS = 1_000
const MOST_OF_ONE = 20
/** Bytes that wait for a reader. */
const MOST_WAITING = 64 * 1024

export interface PageStream {
  readonly tables: readonly Pick<DataTable, 'id' | 'storage'>[]
  /** What {@link PageEvents.mark} gave when the page was made. */
  readonly since: string
  /** Address of the visitor. */
  readonly ip: string
  readonly blueprint: string
  /** Whether the visitor may still see the page. */
  readonly mayStay: () => Promise<boolean>
}

export interface PageEvents {
  /** Says which state of the tables a page shows: what changed between then and the stream's begin is told at once. */
  mark(tables: readonly Pick<DataTable, 'storage'>[]): string
  /** UNAVAILABLE or RATE_LIMITED when there are too many streams. */
  open(reply: FastifyReply, stream: PageStream): FastifyReply
  /** How many are open. */
  readonly size: number
  close(): void
}

interface Open extends PageStream {
  readonly out: Readable
  readonly seen: Map<string, number>
  quiet: number
}

export function openPageEvents(news: StorageNews, live: LiveBlueprints, newGuid: () => string): PageEvents {
  const self = newGuid()
  const streams = new Set<Open>()
  const compiled = (blueprint: string) => live.table().blueprints.get(blueprint)?.compiled
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  let closed = false

  const deployed = new WeakMap<Open, unknown>()
  const unwatchLive = live.watch(() => {
    for (const stream of streams) if (compiled(stream.blueprint) !== deployed.get(stream)) end(stream)
  })

  const versionOf = (name: string) => news.shownVersion(name) + news.ruleVersion()

  function end(stream: Open): void {
    if (!streams.delete(stream)) return
    if (streams.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    stream.out.push(null)
  }

  function send(stream: Open, text: string): void {
    stream.quiet = 0
    if (!stream.out.push(text) && stream.out.readableLength > MOST_WAITING) end(stream)
  }

  function look(stream: Open): void {
    const changed = new Set<string>()
    for (const [name, version] of stream.seen) {
      const now = versionOf(name)
      if (now === version) continue
      stream.seen.set(name, now)
      changed.add(name)
    }
    for (const { id, storage: name } of stream.tables)
      if (changed.has(name)) send(stream, `event: changed\ndata: ${JSON.stringify({ table: id })}\n\n`)
  }

  async function check(stream: Open): Promise<void> {
    const stays = await stream.mayStay().catch(() => false)
    if (!stays) end(stream)
  }

  function tick(): void {
    ticks += 1
    for (const stream of streams) {
      look(stream)
      stream.quiet += 1
      if (stream.quiet >= QUIET_TICKS) send(stream, ': still here\n\n')
      if (ticks % CHECK_TICKS === 0) void check(stream)
    }
  }

  const startTimer = () => setInterval(tick, TICK_MS).unref()

  return {
    get size() {
      return streams.size
    },
    mark: (tables) => [self, ...tables.map((table) => versionOf(table.storage))].join('.'),
    open(reply, asked) {
      if (closed || streams.size >= MOST_STREAMS)
        throw new QuoinError('UNAVAILABLE', 'Too many pages are open here. Try again later.', {
          retryAfter: 30,
        })
      const same = [...streams].filter(({ ip }) => ip === asked.ip).length
      if (same >= MOST_OF_ONE)
        throw new QuoinError('RATE_LIMITED', 'Too many pages are open at one address.', { retryAfter: 30 })
      const out = new Readable({ read: () => undefined, highWaterMark: 1024 })
      const stream: Open = { ...asked, out, quiet: 0, seen: versionsSince(asked) }
      streams.add(stream)
      deployed.set(stream, compiled(asked.blueprint))
      out.once('close', () => end(stream))
      timer ??= startTimer()
      send(stream, 'retry: 3000\n\n')
      look(stream)
      return (
        reply
          .header('cache-control', 'no-store')
          .header('x-content-type-options', 'nosniff')
          // Proxies that gather replies would hold the events back.
          .header('x-accel-buffering', 'no')
          .type('text/event-stream; charset=utf-8')
          .send(out)
      )
    },
    close() {
      closed = true
      unwatchLive()
      clearInterval(timer)
      for (const stream of streams) end(stream)
    },
  }

  /** The versions that the page shows; of a page that another node made, or another life of this one, none is right. */
  function versionsSince({ tables, since }: PageStream): Map<string, number> {
    const [node, ...versions] = since.split('.')
    return new Map(tables.map(({ storage: name }, at) => [name, node === self ? Number(versions[at]) : -1]))
  }
}
