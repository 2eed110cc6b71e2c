import { randomFillSync } from 'node:crypto'
import { type Access, openAccess } from '../src/access/access.ts'
import type { DescribeEndpoints } from '../src/http/docs/endpoint-descriptions.ts'
import type { ConnectionLimits } from '../src/http/limits/connection-limits.ts'
import type { UnreadLimits } from '../src/http/limits/unread-replies.ts'
import { infoRoutes } from '../src/http/routes/operate/nodes.ts'
import { authRoutes } from '../src/http/routes/people/auth.ts'
import { meRoutes } from '../src/http/routes/people/me.ts'
import { userRoutes } from '../src/http/routes/people/users.ts'
import { docsRoutes, openApiRoutes } from '../src/http/routes/site/open-api.ts'
import type { HttpSettings } from '../src/http/server/http-settings.ts'
import type { App, RouteFamily } from '../src/http/server/route-family.ts'
import { openServer, type Server, type ServerOptions } from '../src/http/server/server.ts'
import { signingSecret } from '../src/records/secrets/signing-secret.ts'
import { openTestDatabase, type TestClock } from './test-database.ts'

const adminPassword = 'correct horse battery staple'
export const userPassword = 'a password of a user'

export interface TemporaryServer {
  readonly server: Server
  readonly app: App
  readonly access: Access
  readonly clock: TestClock
  /** What was logged, line by line. */
  readonly log: readonly string[]
  /** Signs in; gives the headers that carry the token. */
  as(username: string, password?: string): Promise<{ authorization: string }>
  /** Makes a user with these scopes. Gives the guid. */
  addUser(username: string, scopes: readonly string[]): Promise<string>
  close(): Promise<void>
}

export interface TemporaryServerOptions {
  readonly settings?: Partial<HttpSettings>
  /** Instead of Quoin's own routes. */
  readonly api?: readonly RouteFamily[]
  readonly limits?: ConnectionLimits
  readonly unread?: UnreadLimits
  /** What blueprints would add to the OpenAPI document. */
  readonly endpoints?: DescribeEndpoints
  readonly root?: readonly RouteFamily[]
  readonly cluster?: ServerOptions['cluster']
}

/** For tests: the whole door with its own routes, real users and a real database, without a port. */
export async function openTemporaryServer(options: TemporaryServerOptions = {}): Promise<TemporaryServer> {
  const { database, clock, close } = await openTestDatabase()
  const access = await openAccess({
    database,
    clock,
    random: (bytes) => void randomFillSync(bytes),
    secret: signingSecret(Buffer.alloc(32, 1)),
    settings: {
      ...{ lockoutAttempts: 3, lockoutSeconds: 900, addressAttempts: 100, tokenSeconds: 1_209_600 },
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
  })
  await access.ensureAdministrator(adminPassword)
  const log: string[] = []
  const noPaths = { tags: [], paths: {} }
  const endpoints = options.endpoints ?? (async () => noPaths)
  const closeAll = async () => {
    await access.close()
    await close()
  }
  const server = await openServer({
    access,
    clock,
    version: '9.8.7',
    ...(options.limits && { limits: options.limits }),
    ...(options.unread && { unread: options.unread }),
    log: { write: (line) => void log.push(line) },
    settings: { ...testSettings, ...options.settings },
    api: options.api ?? [
      authRoutes(access),
      meRoutes(access),
      userRoutes(access),
      infoRoutes(() => testInfo),
      openApiRoutes(endpoints),
    ],
    root: options.root ?? (options.api ? [] : [docsRoutes(endpoints)]),
    cluster: options.cluster,
  }).catch(async (error: unknown) => {
    await closeAll()
    throw error
  })
  const as: TemporaryServer['as'] = async (username, password = userPassword) => {
    const { access_token } = await access.signIn({ username, password, ip: '127.0.0.1' })
    return { authorization: `Bearer ${access_token}` }
  }
  return {
    server,
    app: server.app,
    access,
    clock,
    log,
    as: (username, password = username === 'admin' ? adminPassword : userPassword) => as(username, password),
    async addUser(username, scopes) {
      const { authorization } = await as('admin', adminPassword)
      const admin = await access.identify(authorization.slice('Bearer '.length))
      if (admin === undefined) throw new Error('The administrator cannot sign in.')
      const input = { username, password: userPassword, custom_scopes: [...scopes] }
      const { _meta } = await access.createUser(input, admin)
      return typeof _meta === 'object' && _meta !== null && 'guid' in _meta ? String(_meta.guid) : ''
    },
    async close() {
      await server.close()
      await closeAll()
    },
  }
}

const testSettings: HttpSettings = {
  host: '127.0.0.1',
  port: 0,
  bodyLimit: 1024 * 1024,
  corsOrigins: [],
  rateLimit: 100,
  connections: 256,
  waitingBytes: 128 * 1024 * 1024,
  environment: 'production',
  trustProxy: false,
  logLevel: 'debug',
}

const testInfo = {
  name: 'Quoin',
  version: '9.8.7',
  environment: 'production' as const,
  host: 'here',
  node: 'node-1',
  nodes: 1,
  started: 1_700_000_000,
  flags: { storage: 'sqlite' },
}
