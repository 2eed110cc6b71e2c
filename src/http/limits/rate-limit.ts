import type { Clock } from '../../shared/clock.ts'
import { countedAddress } from '../../shared/counted-address.ts'
import { QuoinError } from '../../shared/errors.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import type { HttpSettings } from '../server/http-settings.ts'
import type { RouteTools } from '../server/route-family.ts'
import { isLoopback } from './client-address.ts'

/** 100,000 buckets take about 20 MB. A flood from more addresses forgets those that have not asked for the longest time. */
const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  filled: number
}

/**
 * Token buckets by address. A bucket holds one second's worth of requests, at least one, and fills steadily: 0.5 is one
 * request every two seconds.
 *
 * By hand and not with @fastify/rate-limit: custom endpoints share one route while each trigger has a limit of its own,
 * that plugin fixes a limit per route when the server starts, and it costs a promise per request where this costs one
 * look into a map (0.1 µs).
 *
 * @returns a function that takes one token: 0 if there was one, else the seconds until there is.
 */
export function tokenBuckets(
  clock: Clock,
  maxBuckets = MAX_BUCKETS,
): (key: string, perSecond: number) => number {
  const buckets = lruCache<string, Bucket>(maxBuckets)
  return (key, perSecond) => {
    const now = clock()
    const most = Math.max(1, perSecond)
    const bucket = buckets.get(key)
    if (bucket === undefined) {
      buckets.set(key, { tokens: most - 1, filled: now })
      return 0
    }
    // A clock that steps back must not empty the bucket.
    const seconds = Math.max(0, now - bucket.filled) / 1000
    bucket.tokens = Math.min(most, bucket.tokens + seconds * perSecond)
    bucket.filled = now
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
    bucket.tokens -= 1
    return 0
  }
}

/** See {@link RouteTools}. */
export function rateLimiter(settings: HttpSettings, clock: Clock): RouteTools['limitRate'] {
  const take = tokenBuckets(clock)
  return (request, name, perSecond = settings.rateLimit) => {
    if (perSecond === 0) return
    const address = countedAddress(request.ip)
    if (settings.environment === 'development' && isLoopback(address)) return
    const wait = take(`${name} ${address}`, perSecond)
    if (wait > 0)
      throw new QuoinError('RATE_LIMITED', `More than ${rateText(perSecond)}. Wait and try again.`, {
        retryAfter: Math.ceil(wait),
      })
  }
}

function rateText(perSecond: number): string {
  if (perSecond >= 1) return `${perSecond} requests a second`
  return `one request every ${Math.round(10 / perSecond) / 10} seconds`
}
