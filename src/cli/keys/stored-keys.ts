import type { JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { textIn } from '../../storage/document-fields.ts'
import { findRecord } from '../find-record.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'

export interface NewKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly endpoints: readonly string[]
  /** Unix seconds; 0 = never. */
  readonly expiry: number
}

/** The oldest first, without secrets. `owner`: a user name, or `me` for the calling user. */
export async function keysOf(management: Management, owner: string): Promise<JsonObject[]> {
  return recordsOf(await management.call('GET', await pathOf(management, owner)))
}

/** Gives the secret, which is shown only now. */
export async function createKey(management: Management, owner: string, key: NewKey): Promise<string> {
  const body = { ...key, scopes: [...key.scopes], endpoints: [...key.endpoints] }
  return secretIn(await management.call('POST', await pathOf(management, owner), body))
}

/** As {@link createKey}. `overlap`: seconds for which the secret of before stays valid. */
export async function rotateKey(
  management: Management,
  owner: string,
  name: string,
  overlap: number,
): Promise<string> {
  const path = await pathOf(management, owner)
  const guid = await guidNamed(management, path, name)
  return secretIn(await management.call('POST', `${path}/${guid}/rotate`, { overlap }))
}

export async function removeKey(management: Management, owner: string, name: string): Promise<void> {
  const path = await pathOf(management, owner)
  await management.call('DELETE', `${path}/${await guidNamed(management, path, name)}`)
}

async function pathOf(management: Management, owner: string): Promise<string> {
  const user = owner === 'me' ? 'me' : guidOf(await findRecord(management, 'users', owner))
  return `/users/${user}/keys`
}

/** Throws Refused, with the nearest name, when there is none. */
async function guidNamed(management: Management, path: string, name: string): Promise<string> {
  const keys = recordsOf(await management.call('GET', path))
  const found = keys.find((key) => key.name === name)
  if (found) return guidOf(found)
  const nearest = nearestName(
    name,
    keys.map((key) => textIn(key.name)),
  )
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`There is no API key ${JSON.stringify(name)}.${advice}`, 404)
}

function secretIn(reply: unknown): string {
  return String(Object(reply).key)
}
