/** Storages and fields of the cluster: what an import finds there, and what it makes. */
import { ruleOf } from '../../records/fields/field-rules.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { fieldsOf } from '../fields/stored-fields.ts'
import { type Management, Refused } from '../management.ts'
import type { SourceField, SourceTable } from './source.ts'

export interface PresentStorages {
  /** Undefined where the cluster has no such storage. */
  fields(storage: string): Promise<readonly FieldRule[] | undefined>
  /** Makes the storages, and those of their fields that are not there. `optional`: fields of a storage that are set later. */
  make(tables: readonly SourceTable[], optional: (storage: string) => ReadonlySet<string>): Promise<void>
}

export function presentStorages(management: Management): PresentStorages {
  const known = new Map<string, readonly FieldRule[] | undefined>()
  const fields = async (storage: string) => {
    if (!known.has(storage)) known.set(storage, await fieldsIn(management, storage))
    return known.get(storage)
  }
  return {
    fields,
    async make(tables, optional) {
      // A reference needs the storage that it leads to.
      for (const { storage } of tables)
        if (!(await fields(storage))) await management.call('POST', '/_system/storages', { name: storage })
      for (const { storage, fields: requested } of tables) {
        const present = await fields(storage)
        for (const field of requested)
          if (!present?.some(({ name }) => name === field.name))
            await management.call('POST', '/blueprintfields', recordOf(storage, field, optional(storage)))
        known.delete(storage)
      }
    },
  }
}

async function fieldsIn(management: Management, storage: string): Promise<readonly FieldRule[] | undefined> {
  try {
    await management.call('GET', `/_system/storages/${storage}/count`)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
  return (await fieldsOf(management, storage)).flatMap((record) => ruleOf(record) ?? [])
}

function recordOf(
  storage: string,
  { name, label, type, limits, required, unique, refersTo }: SourceField,
  optional: ReadonlySet<string>,
): JsonObject {
  return {
    storage,
    name,
    type,
    ...(label !== undefined && { label: label.slice(0, 200) }),
    ...(limits && { validation_rules: jsonOf(limits) }),
    ...(required && !optional.has(name) && { required }),
    ...(unique !== undefined && { unique }),
    ...(refersTo !== undefined && { reference: { storage: refersTo } }),
  }
}

/** Only what is set, as JSON. */
function jsonOf(limits: FieldLimits): JsonObject {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]): [string, JsonValue][] => {
      if (value === undefined) return []
      return [[name, typeof value === 'object' ? [...value] : value]]
    }),
  )
}
