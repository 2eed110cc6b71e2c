import { isJsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'

const storageKind: NamedKind = { path: '/_system/storages', noun: 'storage', most: 1_000 }

export interface CountedStorage {
  readonly name: string
  readonly documents: number
}

export async function storagesWithCounts(management: Management): Promise<readonly CountedStorage[]> {
  const found: CountedStorage[] = []
  for (const record of await allNamed(management, storageKind))
    found.push({ name: textIn(record.name), documents: await countOf(management, guidOf(record)) })
  return found
}

async function countOf(management: Management, guid: string): Promise<number> {
  const reply = await management.call('GET', `${storageKind.path}/${guid}/count`)
  return isJsonObject(reply) ? Number(reply.count) : Number(reply)
}

/** Its path, and how many documents it has. Throws Refused when there is none. */
export async function storageNamed(management: Management, name: string) {
  const guid = guidOf(await recordNamed(management, storageKind, name))
  return { path: `${storageKind.path}/${guid}`, documents: await countOf(management, guid) }
}
