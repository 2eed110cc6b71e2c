/**
 * The reading processes, which the writer keeps running: a reader that ends is started again, at once if it has lived for
 * a while, else after a pause that grows, so that one which cannot start does not keep the machine busy.
 */
import type { Metric } from '../http/metrics/prometheus-text.ts'
import { ChildReader, type ChildReaderOptions, type Listening } from './child-reader.ts'
import type { CollectedMetrics, Opening } from './worker-messages.ts'

export interface ReaderPoolOptions extends Pick<ChildReaderOptions, 'program' | 'patience' | 'heard'> {
  readonly count: number
  readonly opening: () => Opening
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** A reader ended, and why. */
  readonly lost: (message: string) => void
}

export interface ReaderPool {
  /** Starts all of them. Resolves when each serves, or has failed once. */
  open(listening: Listening): Promise<void>
  /** Resolves when every reader has done what follows; undefined when that is now. */
  tell(topic: string, messages: readonly string[] | null): Promise<void> | undefined
  collect(of: CollectedMetrics): Promise<readonly (readonly Metric[])[]>
  /** Those that are not gone, by place. */
  readers(): readonly ChildReader[]
  /** Ends all of them, gently. */
  close(): Promise<void>
}

/** One that lived so long is started again at once. */
const GREW_OLD_MS = 10_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
const COLLECT_MS = 2_000
/** Requests in flight have 10 seconds. */
const STOP_MS = 12_000

export function readerPool(options: ReaderPoolOptions): ReaderPool {
  const { clock } = options
  const places: (ChildReader | undefined)[] = Array.from({ length: options.count }, () => undefined)
  const pauses = new Set<NodeJS.Timeout>()
  let closing = false

  const readers = () => places.filter((reader) => reader !== undefined)

  function start(place: number, listening: Listening, pause: number): ChildReader {
    const began = clock()
    const reader = new ChildReader({ ...options, opening: options.opening(), listening }, began)
    places[place] = reader
    reader.gone.then(() => {
      if (places[place] === reader) places[place] = undefined
      if (closing) return
      const old = clock() - began >= GREW_OLD_MS
      const wait = old ? 0 : pause
      options.lost(`A reading process ended (${reader.reason}); another one starts in ${wait / 1000} s.`)
      const next = old ? FIRST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS)
      const timer = setTimeout(() => {
        pauses.delete(timer)
        if (!closing) start(place, listening, next)
      }, wait)
      pauses.add(timer)
    })
    return reader
  }

  return {
    readers,
    async open(listening) {
      const started = places.map((_none, place) => start(place, listening, FIRST_PAUSE_MS))
      await Promise.all(started.map(({ settled }) => settled))
    },
    tell(topic, messages) {
      const waiting = readers().flatMap((reader) => reader.tell(topic, messages) ?? [])
      return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined)
    },
    collect: (of) => Promise.all(readers().map((reader) => reader.collect(of, COLLECT_MS))),
    async close() {
      closing = true
      for (const timer of pauses) clearTimeout(timer)
      await Promise.all(readers().map((reader) => reader.stop(STOP_MS)))
    },
  }
}
