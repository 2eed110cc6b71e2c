import type { JsonValue } from '../../shared/json.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../shared/names/stored-names.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Management } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'

export const valueKind: NamedKind = {
  path: '/_system/environment',
  noun: 'value',
  most: MAX_ENVIRONMENT_VALUES,
}

export interface NamedValue {
  readonly name: string
  readonly value: JsonValue
}

/** By name. */
export async function allValues(management: Management): Promise<NamedValue[]> {
  const records = await allNamed(management, valueKind)
  return records.map(({ name, value = null }) => ({ name: textIn(name), value }))
}

export async function valueNamed(management: Management, name: string): Promise<NamedValue> {
  const { value = null } = await recordNamed(management, valueKind, name)
  return { name, value }
}
