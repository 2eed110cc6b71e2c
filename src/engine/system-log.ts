import type { LogLevel } from '../blocks/context.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { jsonProblem } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Storage } from '../storage/storage.ts'
import { transact } from '../storage/transact.ts'

export const systemLogStorage = '_systemlogs'

export interface SystemLogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly value?: JsonValue | undefined
  readonly run?: string | undefined
  readonly blueprint?: string | undefined
  readonly block?: string | undefined
  readonly pin?: string | undefined
}

export interface SystemLog {
  /** Never waits and never throws: a log must not slow down or fail what it reports. */
  write(entry: SystemLogEntry): void
  /** Resolves when everything written so far is stored. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Entries that wait to be stored. A flow that logs faster than the disk loses the rest, and the log says how many. */
const WAITING = 10_000
const BATCH = 500
const PAUSE = 200
const LONGEST = 8_192

/** The cluster's own log, kept in a storage so that it can be searched. Written in batches, one transaction each. */
export async function openSystemLog(storage: Storage): Promise<SystemLog> {
  await storage.ensure(systemLogStorage, {
    indexes: [{ fields: ['run'] }, { fields: ['level', '_meta.created'] }],
  })
  let waiting: SystemLogEntry[] = []
  let lost = 0
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  async function store(): Promise<void> {
    timer = undefined
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        await transact(storage, async (session) => {
          for (const entry of batch) await session.create(systemLogStorage, setFields(recordOf(entry)))
        })
      } catch {
        // A full disk must not stop the work that is only being reported.
        lost += batch.length
      }
    }
    if (lost === 0) return
    const count = lost
    lost = 0
    waiting = [
      { level: 'warn', message: `${count} log entries were lost because they could not be stored in time.` },
    ]
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    storing = storing.then(store)
    return storing
  }

  return {
    write(entry) {
      if (waiting.length >= WAITING) {
        lost += 1
        return
      }
      waiting.push(entry)
      timer ??= setTimeout(flush, PAUSE).unref()
    },
    flush,
    close: flush,
  }
}

function recordOf(entry: SystemLogEntry): JsonObject {
  const fields: Record<string, JsonValue> = { level: entry.level, message: cut(entry.message) }
  if (entry.value !== undefined && isSmall(entry.value)) fields['value'] = entry.value
  for (const name of ['run', 'blueprint', 'block', 'pin'] as const) {
    const value = entry[name]
    if (value !== undefined) fields[name] = value
  }
  return fields
}

function cut(message: string): string {
  const whole = message.toWellFormed().replaceAll('\u0000', '\ufffd')
  return whole.length <= LONGEST ? whole : `${whole.slice(0, LONGEST).toWellFormed()}…`
}

function isSmall(value: JsonValue): boolean {
  return jsonProblem(value) === undefined && JSON.stringify(value).length <= LONGEST
}
