import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { MAX_CONNECTIONS } from '../../shared/names/stored-names.ts'
import { textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
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

/** Of one request. */
const OPERATIONS_AT_ONCE = 500
const MOST_LISTED = 5_000

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

/** Gives the connection its OpenAPI document: the text of one, or its address. */
export async function setDocument(
  management: Management,
  name: string,
  from: { readonly document: JsonValue } | { readonly url: string },
): Promise<JsonObject> {
  const path = `${connectionKind.path}/${guidOf(await recordNamed(management, connectionKind, name))}/document`
  const reply =
    'url' in from
      ? await management.call('POST', `${path}/fetch`, { url: from.url })
      : await management.call('PUT', path, from.document)
  return isJsonObject(reply) ? reply : {}
}

/** The operations that a connection offers, or those of them with this id. */
export async function operationsOf(
  management: Management,
  connection: string,
  operation?: string,
): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  const filters = { connection, ...(operation !== undefined && { operation }) }
  for (let offset = 0; offset <= MOST_LISTED; offset += OPERATIONS_AT_ONCE) {
    const page = { filters, sort: [{ path: 'asc' }, { method: 'asc' }], limit: OPERATIONS_AT_ONCE, offset }
    const records = recordsOf(await management.call('POST', '/_system/operations/search', page))
    found.push(...records)
    if (records.length < OPERATIONS_AT_ONCE) break
  }
  return found
}

/** What a block holds of the operation. Throws Refused where there is none. */
export async function operationDefinition(
  management: Management,
  connection: string,
  operation: string,
): Promise<JsonValue> {
  const [found] = await operationsOf(management, connection, operation)
  if (!found)
    throw new Refused(
      `The connection ${connection} has no operation ${operation}. List them: quoin connection operations ${connection}`,
      404,
    )
  const whole = await management.call('GET', `/_system/operations/${guidOf(found)}`)
  return isJsonObject(whole) ? (whole.definition ?? null) : null
}

/** What one request over it gives. */
export async function tryNamed(management: Management, name: string, path: string): Promise<JsonObject> {
  const record = await recordNamed(management, connectionKind, name)
  const tried = await management.call('POST', `${connectionKind.path}/${guidOf(record)}/try`, { path })
  return isJsonObject(tried) ? tried : {}
}
