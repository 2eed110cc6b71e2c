/** What a try of a unit of work does beside the database, kept back until it is known that the try counts. */
import type { Cache } from '../../blocks/context.ts'
import type { RunEnvironment, RunLogEntry } from './run-environment.ts'

/** More log entries of one try are written at once, also when it is undone. */
const MOST_ENTRIES = 1_000
/** More entries of the cache are not kept. */
const MOST_CACHED = 100

type CacheEntry = Parameters<Cache['set']>

export interface BufferedEffects extends Pick<RunEnvironment, 'cache' | 'log'> {
  /** The try counts: from now on everything is done at once. */
  release(): void
}

export function bufferedEffects({ cache, log }: Pick<RunEnvironment, 'cache' | 'log'>): BufferedEffects {
  const entries: RunLogEntry[] = []
  const cached = new Map<string, CacheEntry>()
  let released = false

  return {
    log(entry) {
      if (released || entries.length >= MOST_ENTRIES) log(entry)
      else entries.push(entry)
    },
    cache: {
      get deletions() {
        return cache.deletions
      },
      get: (key) => (cached.has(key) ? cached.get(key)?.[1] : cache.get(key)),
      set(...entry) {
        if (released) cache.set(...entry)
        else if (cached.size < MOST_CACHED) cached.set(entry[0], entry)
      },
      delete(key) {
        const prefix = key.endsWith('*') ? key.slice(0, -1) : undefined
        for (const known of cached.keys())
          if (known === key || (prefix !== undefined && known.startsWith(prefix))) cached.delete(known)
        return cache.delete(key)
      },
    },
    release() {
      released = true
      for (const entry of entries) log(entry)
      for (const entry of cached.values()) cache.set(...entry)
      entries.length = 0
      cached.clear()
    },
  }
}
