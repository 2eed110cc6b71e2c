import { isGuid } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import { guidOf, type Management, Refused, recordsOf } from './management.ts'

/** The one record that a person means by its name or its guid. Throws Refused if there is none, or several. */
export async function findRecord(
  management: Management,
  kind: 'blueprints' | 'users',
  named: string,
): Promise<JsonObject> {
  const noun = kind === 'users' ? 'user' : 'blueprint'
  const field = isGuid(named) ? '_meta.guid' : kind === 'users' ? 'username' : 'name'
  const body = { filters: { [field]: named }, limit: 10 }
  const found = recordsOf(await management.call('POST', `/${kind}/search`, body))
  const [record] = found
  if (record === undefined) throw new Refused(`There is no ${noun} ${JSON.stringify(named)}.`, 404)
  if (found.length > 1) {
    const guids = found.map(guidOf).join(', ')
    throw new Refused(`Several ${noun}s are named ${JSON.stringify(named)}. Say the guid: ${guids}.`, 409)
  }
  return record
}
