/** Values of the environment: named values of the cluster, `env.NAME` in expressions. */

import { invalidField } from '../../shared/errors.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { MAX_ENVIRONMENT_BYTES, MAX_ENVIRONMENT_VALUES } from '../../shared/names/stored-names.ts'
import type { Database } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { openNamedRecords } from '../named-records.ts'
import type { Actor } from '../records.ts'

export interface EnvironmentInput {
  readonly name: string
  readonly value: JsonValue
  readonly description?: string
}

export interface EnvironmentValues {
  /** Every value by its name: the same object until one of them changes, and never changed itself. */
  present(): JsonObject
  /** CONFLICT for a name that is taken, or when there are too many; INVALID_BODY for a value that is too large. */
  create(input: EnvironmentInput, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  /** Changes what is given. */
  update(guid: string, changes: Partial<Omit<EnvironmentInput, 'name'>>, by: Actor): Promise<JsonObject>
  /** Soft delete: the name is free again. */
  remove(guid: string, by: Actor): Promise<void>
  close(): void
}

export async function openEnvironmentValues(database: Database): Promise<EnvironmentValues> {
  let present: JsonObject = {}
  const records = await openNamedRecords(database, {
    storage: systemStorages.environment,
    noun: 'value of the environment',
    most: MAX_ENVIRONMENT_VALUES,
    changed(records) {
      present = valuesOf(records)
    },
  })
  return {
    present: () => present,
    async create({ name, value, description = '' }, by) {
      checkValue(value)
      return records.create({ name, value, description }, by)
    },
    get: records.get,
    async update(guid, { value, description }, by) {
      if (value !== undefined) checkValue(value)
      return records.update(guid, () => ({ value, description }), by)
    },
    remove: records.remove,
    close: records.close,
  }
}

function valuesOf(records: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...records].map(([name, { value = null }]) => [name, value]))
}

function checkValue(value: JsonValue): void {
  const problem = jsonProblem(value)
  if (problem) throw invalidField('value', `The value ${problem}.`)
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > MAX_ENVIRONMENT_BYTES)
    throw invalidField(
      'value',
      `The value has ${bytes} bytes as JSON; at most ${MAX_ENVIRONMENT_BYTES} are stored. Keep what is larger in a document.`,
    )
}
