/**
 * Server-sent events: an open page hears when a document of one of its tables' storages has changed, on any node.
 *
 * All streams of a node share one timer that compares the storages' versions (`live/streams.ts`): a busy storage costs
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
import type { ChangeFeed } from '../live/streams.ts'

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

export function openPageEvents(news: ChangeFeed, live: LiveBlueprints, newGuid: () => string): PageEvents {
  return new PageStreams(news, live, newGuid())
}

class PageStreams implements PageEvents {
  readonly #news: ChangeFeed
  readonly #live: LiveBlueprints
  /** Marks of another process, or of another life of this one, begin with another guid. */
  readonly #self: string
  readonly #streams = new Set<Open>()
  /** What was deployed when a stream began. */
  readonly #deployed = new WeakMap<Open, unknown>()
  readonly #unwatchLive: () => void
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  #closed = false

  constructor(news: ChangeFeed, live: LiveBlueprints, self: string) {
    this.#news = news
    this.#live = live
    this.#self = self
    this.#unwatchLive = live.watch(() => {
      for (const stream of this.#streams)
        if (this.#compiled(stream.blueprint) !== this.#deployed.get(stream)) this.#end(stream)
    })
  }

  get size(): number {
    return this.#streams.size
  }

  mark(tables: readonly Pick<DataTable, 'storage'>[]): string {
    return [this.#self, ...tables.map((table) => this.#versionOf(table.storage))].join('.')
  }

  open(reply: FastifyReply, asked: PageStream): FastifyReply {
    this.#checkRoom(asked.ip)
    const out = new Readable({ read: () => undefined, highWaterMark: 1024 })
    const stream: Open = { ...asked, out, quiet: 0, seen: this.#versionsSince(asked) }
    this.#streams.add(stream)
    this.#deployed.set(stream, this.#compiled(asked.blueprint))
    out.once('close', () => this.#end(stream))
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    this.#send(stream, 'retry: 3000\n\n')
    this.#look(stream)
    return (
      reply
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        // Proxies that gather replies would hold the events back.
        .header('x-accel-buffering', 'no')
        .type('text/event-stream; charset=utf-8')
        .send(out)
    )
  }

  close(): void {
    this.#closed = true
    this.#unwatchLive()
    clearInterval(this.#timer)
    for (const stream of this.#streams) this.#end(stream)
  }

  #checkRoom(address: string): void {
    if (this.#closed || this.#streams.size >= MOST_STREAMS)
      throw new QuoinError('UNAVAILABLE', 'Too many pages are open here. Try again later.', {
        retryAfter: 30,
      })
    const same = [...this.#streams].filter(({ ip }) => ip === address).length
    if (same >= MOST_OF_ONE)
      throw new QuoinError('RATE_LIMITED', 'Too many pages are open at one address.', { retryAfter: 30 })
  }

  #compiled(blueprint: string): unknown {
    return this.#live.table().blueprints.get(blueprint)?.compiled
  }

  #versionOf(name: string): number {
    return this.#news.shownVersion(name) + this.#news.ruleVersion()
  }

  /** The versions that the page shows; of a page that another node made, or another life of this one, none is right. */
  #versionsSince({ tables, since }: PageStream): Map<string, number> {
    const [node, ...versions] = since.split('.')
    const isOurs = node === this.#self
    return new Map(tables.map(({ storage: name }, at) => [name, isOurs ? Number(versions[at]) : -1]))
  }

  #tick(): void {
    this.#ticks += 1
    for (const stream of this.#streams) {
      this.#look(stream)
      stream.quiet += 1
      if (stream.quiet >= QUIET_TICKS) this.#send(stream, ': still here\n\n')
      if (this.#ticks % CHECK_TICKS === 0) void this.#check(stream)
    }
  }

  #look(stream: Open): void {
    const changed = new Set<string>()
    for (const [name, version] of stream.seen) {
      const now = this.#versionOf(name)
      if (now === version) continue
      stream.seen.set(name, now)
      changed.add(name)
    }
    for (const { id, storage: name } of stream.tables)
      if (changed.has(name)) this.#send(stream, `event: changed\ndata: ${JSON.stringify({ table: id })}\n\n`)
  }

  async #check(stream: Open): Promise<void> {
    const stays = await stream.mayStay().catch(() => false)
    if (!stays) this.#end(stream)
  }

  #send(stream: Open, text: string): void {
    stream.quiet = 0
    if (!stream.out.push(text) && stream.out.readableLength > MOST_WAITING) this.#end(stream)
  }

  #end(stream: Open): void {
    if (!this.#streams.delete(stream)) return
    if (this.#streams.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    stream.out.push(null)
  }
}
