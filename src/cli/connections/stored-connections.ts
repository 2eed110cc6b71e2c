import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { MAX_CONNECTIONS } from '../../shared/names/stored-names.ts'
import { textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'

export const connectionKind: NamedKind = {
  path: '/_system/connections',
  noun: 'connection',
  most: MAX_CONNECTIONS,
}

export interface NamedConnection {
  readonly name: string
  readonly baseUrl: string
  /** How requests are signed in. */
  readonly kind: string
}

/** By name. */
export async function allConnections(management: Management): Promise<NamedConnection[]> {
  return (await allNamed(management, connectionKind)).map(({ name, base_url: baseUrl, auth }) => ({
    name: textIn(name),
    baseUrl: textIn(baseUrl),
    kind: isJsonObject(auth) ? textIn(auth.kind) : '',
  }))
}

/** As `quoin connection set` reads it. */
export async function connectionNamed(management: Management, name: string): Promise<JsonObject> {
  const {
    base_url = '',
    auth = null,
    headers = {},
    description = '',
  } = await recordNamed(management, connectionKind, name)
  return { base_url, auth, headers, description }
}

/** What one request over it gives. */
export async function tryNamed(management: Management, name: string, path: string): Promise<JsonObject> {
  const record = await recordNamed(management, connectionKind, name)
  const tried = await management.call('POST', `${connectionKind.path}/${guidOf(record)}/try`, { path })
  return isJsonObject(tried) ? tried : {}
}
