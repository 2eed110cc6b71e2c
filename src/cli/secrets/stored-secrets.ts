import type { JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import { MAX_SECRETS } from '../../shared/secret-name.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'

const path = '/_system/secrets'

export interface NamedSecret {
  readonly name: string
  readonly readable: boolean
  /** Names of active blueprints. */
  readonly users: readonly string[]
}

/** By name. */
export async function allSecrets(management: Management): Promise<NamedSecret[]> {
  const body = { limit: MAX_SECRETS, sort: [{ name: 'asc' }] }
  return recordsOf(await management.call('POST', `${path}/search`, body)).map((record) => ({
    name: textIn(record.name),
    readable: record.readable === true,
    users: objectsIn(record.used_by).map(({ name }) => textIn(name)),
  }))
}

export async function setSecret(management: Management, name: string, value: string): Promise<void> {
  const known = await found(management, name)
  if (known) await management.call('PUT', `${path}/${guidOf(known)}`, { value })
  else await management.call('POST', path, { name, value })
}

/** Throws Refused, with the nearest name, when there is none. */
export async function unsetSecret(management: Management, name: string): Promise<void> {
  const known = await found(management, name)
  if (known) {
    await management.call('DELETE', `${path}/${guidOf(known)}`)
    return
  }
  const names = (await allSecrets(management)).map((one) => one.name)
  const nearest = nearestName(name, names)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`There is no secret ${JSON.stringify(name)}.${advice}`, 404)
}

/** Gives the numbers of secrets that were encrypted again, and of those that no key opens. */
export async function rotateSecrets(
  management: Management,
): Promise<{ readonly rotated: number; readonly unreadable: number }> {
  const reply = await management.call('POST', `${path}/rotate`)
  const { rotated, unreadable } = Object(reply)
  return { rotated: Number(rotated), unreadable: Number(unreadable) }
}

async function found(management: Management, name: string): Promise<JsonObject | undefined> {
  const [record] = recordsOf(await management.call('POST', `${path}/search`, { filters: { name }, limit: 1 }))
  return record
}
