/** Connections: servers that flows call, by name, with their base address and how requests are signed in. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { type ConnectionAuth, connectionAuth } from '../../shared/api/operate/connections.ts'
import { invalidField } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { MAX_CONNECTIONS } from '../../shared/names/stored-names.ts'
import type { Database } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { openNamedRecords } from '../named-records.ts'
import type { Actor } from '../records.ts'
import { checkSecretRoute, type Lacks } from '../secret-route.ts'

export interface ConnectionInput {
  readonly name: string
  readonly base_url: string
  readonly auth?: ConnectionAuth
  readonly headers?: Readonly<Record<string, string>>
  readonly description?: string
}

/** What runs need of one. */
export interface StoredConnection {
  readonly baseUrl: URL
  readonly auth: ConnectionAuth
  readonly headers: Readonly<Record<string, string>>
}

export interface Connections {
  names(): readonly string[]
  /** The same object until the record changes. */
  find(name: string): StoredConnection | undefined
  /** CONFLICT for a name that is taken, or when there are too many; INVALID_BODY for an address that is none; as `checkSecretRoute`. */
  create(input: ConnectionInput, by: Actor, lacks: Lacks): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  update(
    guid: string,
    changes: Partial<Omit<ConnectionInput, 'name'>>,
    by: Actor,
    lacks: Lacks,
  ): Promise<JsonObject>
  remove(guid: string, by: Actor): Promise<void>
  /** Reads all again: they were written by others than these methods. */
  refresh(): Promise<void>
  close(): void
}

/** INVALID_BODY for an address that is none. */
export function checkConnection({ base_url, auth = { kind: 'none' } }: Omit<ConnectionInput, 'name'>): void {
  checkAddresses({ base_url, auth })
}

export async function openConnections(database: Database): Promise<Connections> {
  const records = await openNamedRecords(database, {
    storage: systemStorages.connections,
    noun: 'connection',
    most: MAX_CONNECTIONS,
  })
  const stored = Compile(
    Type.Object({
      base_url: Type.String(),
      auth: connectionAuth,
      headers: Type.Record(Type.String(), Type.String()),
    }),
  )
  const read = new WeakMap<JsonObject, StoredConnection>()
  return {
    names: () => [...records.present().keys()],
    find(name) {
      const record = records.present().get(name)
      if (!record) return undefined
      const known = read.get(record)
      if (known) return known
      const { base_url: address, auth, headers } = stored.Parse(record)
      const connection = { baseUrl: baseUrl(address), auth, headers }
      read.set(record, connection)
      return connection
    },
    async create({ name, base_url, auth = { kind: 'none' }, headers = {}, description = '' }, by, lacks) {
      checkAddresses({ base_url, auth })
      checkSecretRoute(undefined, routeOf({ base_url, auth }), lacks)
      return records.create({ name, base_url, auth: { ...auth }, headers: { ...headers }, description }, by)
    },
    get: records.get,
    async update(guid, { base_url, auth, headers, description }, by, lacks) {
      checkAddresses({ base_url, auth })
      return records.update(
        guid,
        (record) => {
          const now = stored.Parse(record)
          const next = { base_url: base_url ?? now.base_url, auth: auth ?? now.auth }
          checkSecretRoute(routeOf(now), routeOf(next), lacks)
          return { base_url, auth: auth && { ...auth }, headers: headers && { ...headers }, description }
        },
        by,
      )
    },
    remove: records.remove,
    refresh: records.refresh,
    close: records.close,
  }
}

/** Everything that says where the secret of a connection goes. */
function routeOf({ base_url, auth }: { readonly base_url: string; readonly auth: ConnectionAuth }) {
  return { secret: auth.kind === 'none' ? '' : auth.secret, to: [base_url, { ...auth }] }
}

function checkAddresses({
  base_url: base,
  auth,
}: {
  readonly base_url: string | undefined
  readonly auth: ConnectionAuth | undefined
}): void {
  if (base !== undefined && problemOf(base)) throw invalidField('base_url', `base_url ${problemOf(base)}.`)
  if (auth?.kind === 'oauth2' && problemOf(auth.token_url))
    throw invalidField('auth.token_url', `auth.token_url ${problemOf(auth.token_url)}.`)
}

function problemOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an address of http or https'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password: use auth'
  return url.search === '' && url.hash === '' ? undefined : 'must end with its path'
}

/** With a path that ends with a slash: what follows it stays below it. */
function baseUrl(text: string): URL {
  const url = new URL(text)
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}
