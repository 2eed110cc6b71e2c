import type { LogLevel } from '../blocks/context.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../shared/json.ts'
import type { Database } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { type BatchedLog, batchedLog, logText } from './batched-log.ts'

export interface SystemLogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly value?: JsonValue | undefined
  readonly run?: string | undefined
  readonly blueprint?: string | undefined
  readonly block?: string | undefined
  readonly pin?: string | undefined
  /** Where its run is in a distributed trace. It is not stored. */
  readonly trace?: string | undefined
}

export interface SystemLog extends BatchedLog<SystemLogEntry> {
  /** The listener is told of each entry. There is one. */
  whenWritten(listener: (entry: SystemLogEntry) => void): void
}

const LARGEST_VALUE = 8_192

/** The cluster's own log, kept in a storage so that it can be searched. */
export async function openSystemLog(database: Database): Promise<SystemLog> {
  await database.ensure(systemStorages.systemLogs, {
    indexes: [{ fields: ['run'] }, { fields: ['level', '_meta.created'] }],
    text: true,
  })
  let written: (entry: SystemLogEntry) => void = () => undefined
  const log = batchedLog<SystemLogEntry>({
    database,
    name: systemStorages.systemLogs,
    recordOf,
    lost: (count) => ({
      level: 'warn',
      message: `${count} log entries were lost because they could not be stored in time.`,
    }),
  })
  return {
    ...log,
    write(entry) {
      log.write(entry)
      written(entry)
    },
    whenWritten(listener) {
      written = listener
    },
  }
}

function recordOf(entry: SystemLogEntry): JsonObject {
  const fields: Record<string, JsonValue> = { level: entry.level, message: logText(entry.message) }
  if (entry.value !== undefined && isSmall(entry.value)) fields.value = entry.value
  for (const name of ['run', 'blueprint', 'block', 'pin'] as const) {
    const value = entry[name]
    if (value !== undefined) fields[name] = value
  }
  return fields
}

function isSmall(value: JsonValue): boolean {
  return jsonProblem(value) === undefined && JSON.stringify(value).length <= LARGEST_VALUE
}
