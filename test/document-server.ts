import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { type Access, openAccess } from '../src/access/access.ts'
import { loadBlocks } from '../src/blocks/load-blocks.ts'
import { type Flows, openFlows } from '../src/flows/flows.ts'
import { assetRoutes } from '../src/http/routes/data/assets.ts'
import { documentRoutes } from '../src/http/routes/data/documents.ts'
import { documentImportRoutes } from '../src/http/routes/data/documents-import.ts'
import { manyDocumentRoutes } from '../src/http/routes/data/documents-many.ts'
import { documentTransferRoutes } from '../src/http/routes/data/documents-transfer.ts'
import { sampleDocumentRoutes } from '../src/http/routes/data/sample-documents.ts'
import { preparationRoutes, storageAdviceRoutes } from '../src/http/routes/data/storage-advice.ts'
import { storageRoutes } from '../src/http/routes/data/storages.ts'
import { viewRoutes } from '../src/http/routes/data/views.ts'
import { staticFileRoutes } from '../src/http/routes/site/studio-files.ts'
import { openServer, type Server } from '../src/http/server/server.ts'
import { type Assets, openAssets } from '../src/records/assets/assets.ts'
import { openAuditLog } from '../src/records/audit-log.ts'
import { openDocumentHistory } from '../src/records/documents/document-history.ts'
import { type DocumentImports, openDocumentImports } from '../src/records/documents/document-import.ts'
import { openFieldRules } from '../src/records/fields/field-rules.ts'
import { validatedDatabase } from '../src/records/fields/validated-database.ts'
import { openRecords } from '../src/records/records.ts'
import { signingSecret } from '../src/records/secrets/signing-secret.ts'
import type { StorageContext } from '../src/records/storage-records.ts'
import type { JsonValue } from '../src/shared/json.ts'
import { openAssetFiles } from '../src/storage/assets/asset-files.ts'
import type { Database } from '../src/storage/database.ts'
import type { SlowLimits } from '../src/storage/search/search-advisor.ts'
import { bareRunServices } from './bare-services.ts'
import { textAt } from './json-at.ts'
import { openTestDatabase, type TestClock } from './test-database.ts'

const password = 'correct horse battery'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'

export interface Sent {
  readonly body?: JsonValue
  /** Sent as it is, with its type. */
  readonly raw?: string | Buffer
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface DocumentServer {
  readonly server: Server
  readonly access: Access
  readonly flows: Flows
  readonly database: Database
  readonly clock: TestClock
  readonly directory: string
  readonly context: StorageContext
  readonly imports: DocumentImports
  readonly assets: Assets
  /** To a path under /api/v1, or to a whole one that begins with /static; '' is anonymous. */
  send(method: Method, path: string, as: string, sent?: Sent): Promise<Answer>
  /** The header that carries a user's token. */
  as(username: string): Promise<{ authorization: string }>
  addUser(username: string, scopes: readonly string[]): Promise<string>
  /** Makes a storage; gives its guid. */
  make(name: string, history?: boolean): Promise<string>
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  /** Parsed; undefined when it is no JSON. Read with `json-at.ts`. */
  readonly body: JsonValue | undefined
  readonly text: string
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, unknown>>
}

export interface DocumentServerLimits {
  readonly upload?: number
  readonly imported?: number
  readonly slowSearches?: SlowLimits
}

/** For tests: storages, documents and assets behind a real door on a real database, with small limits. */
export async function openDocumentServer(limits: DocumentServerLimits = {}): Promise<DocumentServer> {
  const {
    database: plain,
    clock,
    directory,
    close,
  } = await openTestDatabase(limits.slowSearches ? { slowSearches: limits.slowSearches } : {})
  const fields = await openFieldRules(plain)
  const database = validatedDatabase(plain, fields, {
    clock,
    random: (bytes) => void randomFillSync(bytes),
  })
  const flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(database, clock),
    catalogue: await loadBlocks(),
    random: (bytes) => void randomFillSync(bytes),
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    reservedRoots: new Set(['_system']),
    fields,
  })
  const { records, newGuid, live, permissions } = flows
  const history = await openDocumentHistory(database)
  const audit = await openAuditLog(database, {})
  const context: StorageContext = { records, history, audit }
  const files = await openAssetFiles(join(directory, 'assets'), newGuid)
  const assets = await openAssets(records, files, limits.upload ?? 100_000)
  const imports = await openDocumentImports({
    database,
    directory: join(directory, 'imports'),
    newGuid,
    limit: limits.imported ?? 200_000_000,
  })
  await imports.begin(() => undefined)
  const access = await openAccess({
    database,
    clock,
    random: (bytes) => void randomFillSync(bytes),
    secret: signingSecret(Buffer.alloc(32, 1)),
    settings: {
      lockoutAttempts: 3,
      lockoutSeconds: 900,
      addressAttempts: 100,
      tokenSeconds: 1_209_600,
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
  })
  await access.ensureAdministrator(password)
  const server = await openServer({
    access,
    clock,
    version: '9.8.7',
    settings: {
      host: '127.0.0.1',
      port: 0,
      bodyLimit: 1024 * 1024,
      corsOrigins: [],
      rateLimit: 0,
      connections: 0,
      waitingBytes: 0,
      environment: 'production',
      trustProxy: false,
      logLevel: 'silent',
    },
    api: [
      storageRoutes(context, live, permissions),
      viewRoutes(context),
      storageAdviceRoutes(context, live),
      preparationRoutes(database.capabilities.indexes),
      documentRoutes(context, permissions),
      manyDocumentRoutes(context, permissions, newGuid),
      documentTransferRoutes(context, permissions),
      documentImportRoutes(context, imports, permissions),
      sampleDocumentRoutes(context, permissions),
      assetRoutes(assets),
    ],
    root: [staticFileRoutes(assets)],
  })
  const tokens = new Map<string, Promise<{ authorization: string }>>()

  function as(username: string): Promise<{ authorization: string }> {
    const token =
      tokens.get(username) ??
      access
        .signIn({ username, password, ip: '192.0.2.1' })
        .then((signedIn) => ({ authorization: `Bearer ${signedIn.access_token}` }))
    tokens.set(username, token)
    return token
  }

  const send: DocumentServer['send'] = async (method, path, user, sent = {}) => {
    const payload = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
    const type = payload === undefined ? {} : { 'content-type': sent.type ?? 'application/json' }
    const reply = await server.app.inject({
      method,
      url: path.startsWith('/static') ? path : `/api/v1${path}`,
      headers: { ...(user !== '' && (await as(user))), ...type, ...sent.headers },
      ...(payload !== undefined && { payload }),
    })
    const isJson = String(reply.headers['content-type']).startsWith('application/json')
    return {
      status: reply.statusCode,
      body: isJson && reply.body !== '' ? JSON.parse(reply.body) : undefined,
      text: reply.body,
      bytes: reply.rawPayload,
      headers: reply.headers,
    }
  }

  return {
    server,
    access,
    flows,
    database,
    clock,
    directory,
    context,
    imports,
    assets,
    send,
    as,
    async addUser(username, scopes) {
      const { authorization } = await as('admin')
      const admin = await access.identify(authorization.slice('Bearer '.length))
      if (admin === undefined) throw new Error('The administrator is not known.')
      const { _meta } = await access.createUser({ username, password, custom_scopes: [...scopes] }, admin)
      return textAt(_meta, 'guid')
    },
    async make(name, kept = false) {
      const made = await send('POST', '/_system/storages', 'admin', { body: { name, history: kept } })
      if (made.status !== 200) throw new Error(made.text)
      return textAt(made.body, '_meta', 'guid')
    },
    async close() {
      await server.close()
      await imports.close()
      history.close()
      audit.close()
      await flows.close()
      await access.close()
      await close()
    },
  }
}

/** A form with these fields before a file, as a browser writes it. */
export function formWith(
  file: { readonly name: string; readonly type: string; readonly content: Buffer | string } | undefined,
  fields: Readonly<Record<string, string>> = {},
): { readonly raw: Buffer; readonly type: string } {
  const boundary = 'form-boundary-7d81b516112482'
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  )
  if (file)
    parts.push(
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\ncontent-type: ${file.type}\r\n\r\n`,
      ),
      Buffer.from(file.content),
      Buffer.from('\r\n'),
    )
  const raw = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
  return { raw, type: `multipart/form-data; boundary=${boundary}` }
}
