/**
 * Counts calls by key in the database, so that a limit holds over all nodes. One document of `_limits` for each key that is
 * counted: `{ count, until }`. Its guid is made of the key's hash, so the key itself is not stored.
 *
 * Exact: a document is changed while no other transaction can change it, and a call is answered when that is durable.
 * One transaction at a time on each node, with all calls that came meanwhile: a key that all clients use costs one write
 * for each batch, not one for each call. Documents are changed in the order of their guids, so two nodes do not wait for
 * each other.
 *
 * A call that is refused needs no write. While the window lasts, this process refuses further ones from memory: a client
 * that is over its limit costs the database nothing.
 */
import { hash } from 'node:crypto'
import type { Counted, CountedCall, RunCounts } from '../../blocks/block-services.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type LruCache, lruCache } from '../../shared/lru-cache.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { numberIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

/** Calls in one transaction: on PostgreSQL two statements for each key. */
const BATCH = 100
/** Calls that wait in this process. Each is a run under way. */
const MOST_WAITING = 10_000
/** Keys whose windows are known to be full: some 2 MB. */
const MOST_FULL = 10_000
/** Each try that fails was overtaken by another node that counted the same new key. */
const MOST_TRIES = 10

interface WaitingCall extends CountedCall {
  readonly guid: string
  readonly done: (counted: Counted) => void
  readonly failed: (error: unknown) => void
}

interface LimitCountsOptions {
  readonly database: Database
  readonly clock: Clock
}

/** `_limits` is there: see {@link ensureLimits}. */
export function limitCounts({ database, clock }: LimitCountsOptions): RunCounts {
  const waiting: WaitingCall[] = []
  const full: LruCache<string, CountWindow> = lruCache(MOST_FULL)
  let working = false

  async function work(): Promise<void> {
    working = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        await store(batch)
      } catch (error) {
        for (const call of batch) call.failed(error)
      }
    }
    working = false
  }

  async function store(batch: readonly WaitingCall[]): Promise<void> {
    const byGuid = [...Map.groupBy(batch, ({ guid }) => guid)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const counted = await inTransaction(database, async (session) => {
      const all: (readonly [string, readonly WaitingCall[], CountedCalls])[] = []
      for (const [guid, calls] of byGuid)
        all.push([guid, calls, await countIn(session, guid, calls, clock())])
      return all
    })
    for (const [guid, calls, { window, outcomes }] of counted) {
      if (outcomes.some(({ allowed }) => !allowed)) full.set(guid, window)
      for (const [at, outcome] of outcomes.entries()) calls[at]?.done(outcome)
    }
  }

  return {
    count(call) {
      const guid = guidOfKey(call)
      const now = clock()
      const known = full.get(guid)
      if (known && known.until > now && known.until <= now + call.window) {
        const [refused] = countCalls(known, [call], now).outcomes
        if (refused && !refused.allowed) return Promise.resolve(refused)
      }
      if (waiting.length >= MOST_WAITING)
        throw new QuoinError('UNAVAILABLE', 'Too many calls wait to be counted. Try again.')
      return new Promise((done, failed) => {
        waiting.push({ ...call, guid, done, failed })
        if (!working) void work()
      })
    },
  }
}

export async function ensureLimits(database: Database): Promise<void> {
  await database.ensure(systemStorages.limits, { indexes: [{ fields: ['until'] }] })
}

/** Again where another node has just counted a key for the first time. */
async function inTransaction<T>(
  database: Database,
  work: (session: Session) => Promise<T>,
  tries = MOST_TRIES,
): Promise<T> {
  try {
    return await transact(database, work)
  } catch (error) {
    if (tries > 1 && error instanceof QuoinError && error.code === 'CONFLICT')
      return inTransaction(database, work, tries - 1)
    throw error
  }
}

async function countIn(
  session: Session,
  guid: string,
  calls: readonly CountedCall[],
  now: number,
): Promise<CountedCalls> {
  let counted = countCalls(undefined, calls, now)
  const written = await session.update(systemStorages.limits, guid, [], {
    allows(document) {
      counted = countCalls(windowIn(documentOf(document)), calls, now)
      return counted.changed
    },
    complete: () => setFields({ ...counted.window }),
  })
  if (written.outcome === 'not_found' && counted.changed)
    await session.create(systemStorages.limits, setFields({ ...counted.window }), { guid })
  return counted
}

function windowIn({ count, until }: JsonObject): CountWindow {
  return { count: numberIn(count), until: numberIn(until) }
}

/** In the form of a guid: 120 bits of the hash. A window of another length counts apart. */
function guidOfKey({ key, window }: CountedCall): string {
  const text = hash('sha256', `${window} ${key}`, 'hex')
  const part = (from: number, to: number) => text.slice(from, to)
  return `${part(0, 8)}-${part(8, 12)}-7${part(12, 15)}-8${part(15, 18)}-${part(18, 30)}`
}

// The count of one key in one window. A window begins with the first call that is counted and ends after its length,
// whatever is called meanwhile. What it does not allow is not counted.

/** Milliseconds since 1970. */
interface CountWindow {
  readonly count: number
  readonly until: number
}

interface CountedCalls {
  readonly window: CountWindow
  /** In the order of the calls. */
  readonly outcomes: readonly Counted[]
  /** Whether the window differs from the stored one. */
  readonly changed: boolean
}

/** `calls`: of one key and length of window. `stored`: undefined when the key has not been counted. */
function countCalls(
  stored: CountWindow | undefined,
  calls: readonly Omit<CountedCall, 'key'>[],
  now: number,
): CountedCalls {
  const length = calls[0]?.window ?? 0
  const current = stored && stored.until > now ? stored : undefined
  let count = current?.count ?? 0
  // The clock of another node may be ahead, or this one's was set back.
  const until = Math.min(current?.until ?? now + length, now + length)
  const outcomes = calls.map(({ most, amount }): Counted => {
    const allowed = count + Math.max(1, amount) <= most
    if (allowed) count += amount
    const retryAfter = allowed ? 0 : Math.max(1, Math.ceil((until - now) / 1000))
    return { allowed, remaining: Math.max(0, most - count), retryAfter }
  })
  // A shorter window is stored also for a refusal: else it would be as long for each call, until the clock is where it was.
  const isShorter = current !== undefined && until < current.until
  return { window: { count, until }, outcomes, changed: isShorter || count !== (current?.count ?? 0) }
}
