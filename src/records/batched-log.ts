/**
 * A log that is kept in a storage and must never slow down or fail what it reports: entries wait in memory and are
 * stored in batches, one transaction each. What cannot be stored in time is lost, and the log says how much.
 */
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Database } from '../storage/database.ts'
import { transact } from '../storage/transact.ts'

export interface BatchedLog<Entry> {
  /** Never waits and never throws. */
  write(entry: Entry): void
  /** Resolves when everything written so far is stored. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface BatchedLogOptions<Entry> {
  readonly database: Database
  /** Name of the storage, which is there. How long its records are kept: `retention/retention.ts`. */
  readonly name: string
  /** The fields of an entry's record: small, and JSON that a document can hold. */
  readonly recordOf: (entry: Entry) => JsonObject
  /** The entry that says how many were lost. */
  readonly lost: (count: number) => Entry
  /** What becomes one record when it comes again within a batch; `both` gives undefined when one cannot hold more. */
  readonly repeated?: {
    readonly keyOf: (entry: Entry) => string
    readonly both: (earlier: Entry, later: Entry) => Entry | undefined
  }
}

/** Entries that wait to be stored: some 10 MB at most. */
const WAITING = 10_000
const BATCH = 500
/** Milliseconds from an entry to its batch. */
const PAUSE = 200

/** What waits in memory to be stored, one time after the other: within `pause` milliseconds of being asked for, or at once. */
export interface StoredLater {
  ask(): void
  /** Resolves when everything so far is stored, or could not be. */
  flush(): Promise<void>
  /** What was asked for and has not begun is not done. */
  stop(): void
}

/** What `store` throws is lost with what it was to store: a rejection that no caller handles would end the process. */
export function storedLater(store: () => Promise<void>, pause: number): StoredLater {
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()
  function stop(): void {
    clearTimeout(timer)
    timer = undefined
  }
  function flush(): Promise<void> {
    stop()
    storing = storing.then(store).catch(() => undefined)
    return storing
  }
  return {
    ask() {
      timer ??= setTimeout(() => void flush(), pause).unref()
    },
    flush,
    stop,
  }
}

export function batchedLog<Entry>(options: BatchedLogOptions<Entry>): BatchedLog<Entry> {
  const { database, name, recordOf, repeated } = options
  let waiting: Entry[] = []
  /** Places in `waiting`, by what makes entries the same. */
  const places = new Map<string, number>()
  let lost = 0
  const later = storedLater(store, PAUSE)

  async function store(): Promise<void> {
    while (waiting.length > 0) {
      places.clear()
      const batch = waiting.splice(0, BATCH)
      try {
        await transact(database, async (session) => {
          for (const entry of batch) await session.create(name, setFields(recordOf(entry)))
        })
      } catch {
        // A full disk must not stop the work that is only being reported.
        lost += batch.length
      }
    }
    if (lost === 0) return
    waiting = [options.lost(lost)]
    lost = 0
  }

  return {
    write(entry) {
      if (repeated && isRepeated(entry, { waiting, places }, repeated)) return
      if (waiting.length >= WAITING) {
        lost += 1
        return
      }
      waiting.push(entry)
      later.ask()
    },
    flush: later.flush,
    // Twice: the first may leave the entry that says what was lost.
    close: () => later.flush().then(later.flush),
  }
}

/** Whether it is one with an entry that waits already. */
function isRepeated<Entry>(
  entry: Entry,
  { waiting, places }: { readonly waiting: Entry[]; readonly places: Map<string, number> },
  { keyOf, both }: NonNullable<BatchedLogOptions<Entry>['repeated']>,
): boolean {
  const key = keyOf(entry)
  const place = places.get(key)
  const earlier = place === undefined ? undefined : waiting[place]
  const one = earlier === undefined ? undefined : both(earlier, entry)
  if (place === undefined || one === undefined) {
    places.set(key, waiting.length)
    return false
  }
  waiting[place] = one
  return true
}

const LONGEST = 8_192

/** Text as a record can hold it: without what no document may hold, and cut at 8,192 characters or `longest`. */
export function logText(text: string, longest = LONGEST): string {
  // A flow may log a text of a million characters.
  const beginning = text.length <= longest ? text : text.slice(0, longest + 1)
  const whole = beginning.toWellFormed().replaceAll('\u0000', '\ufffd')
  return whole.length <= longest ? whole : `${whole.slice(0, longest).toWellFormed()}…`
}
