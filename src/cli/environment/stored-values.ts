import { MAX_ENVIRONMENT_VALUES } from '../../shared/environment-name.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'

const path = '/_system/environment'

export interface NamedValue {
  readonly name: string
  readonly value: JsonValue
}

/** By name. */
export async function allValues(management: Management): Promise<NamedValue[]> {
  const body = { limit: MAX_ENVIRONMENT_VALUES, sort: [{ name: 'asc' }] }
  const records = recordsOf(await management.call('POST', `${path}/search`, body))
  return records.map(({ name, value = null }) => ({ name: String(name), value }))
}

export async function valueNamed(management: Management, name: string): Promise<NamedValue> {
  const { value = null } = await recordNamed(management, name)
  return { name, value }
}

export async function setValue(management: Management, name: string, value: JsonValue): Promise<void> {
  const known = await found(management, name)
  if (known) await management.call('PUT', `${path}/${guidOf(known)}`, { value })
  else await management.call('POST', path, { name, value })
}

export async function unsetValue(management: Management, name: string): Promise<void> {
  await management.call('DELETE', `${path}/${guidOf(await recordNamed(management, name))}`)
}

/** Throws Refused, with the nearest name, when there is none. */
async function recordNamed(management: Management, name: string): Promise<JsonObject> {
  const record = await found(management, name)
  if (record) return record
  const names = (await allValues(management)).map((one) => one.name)
  const nearest = nearestName(name, names)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`There is no value ${JSON.stringify(name)}.${advice}`, 404)
}

async function found(management: Management, name: string): Promise<JsonObject | undefined> {
  const [record] = recordsOf(await management.call('POST', `${path}/search`, { filters: { name }, limit: 1 }))
  return record
}
