import { randomFillSync } from 'node:crypto'
import { type Access, openAccess } from '../src/access/access.ts'
import { auditedAccess } from '../src/access/audited-access.ts'
import { describeBlock } from '../src/blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../src/blocks/load-blocks.ts'
import { auditedRecords } from '../src/flows/audited-records.ts'
import { type Flows, openFlows } from '../src/flows/flows.ts'
import { openValidationRules } from '../src/flows/live/validation-rules.ts'
import { runPipeline } from '../src/flows/run-pipeline.ts'
import { customEndpoints } from '../src/http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../src/http/endpoints/endpoint-idempotency.ts'
import { blockCatalogueRoutes } from '../src/http/routes/blueprints/blocks.ts'
import { blueprintActionRoutes } from '../src/http/routes/blueprints/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from '../src/http/routes/blueprints/blueprint-deployment.ts'
import { blueprintFieldRoutes } from '../src/http/routes/blueprints/blueprint-fields.ts'
import { blueprintTemplateRoutes } from '../src/http/routes/blueprints/blueprint-templates.ts'
import { blueprintValidationRoutes } from '../src/http/routes/blueprints/blueprint-validation.ts'
import { blueprintRoutes } from '../src/http/routes/blueprints/blueprints.ts'
import { connectionRoutes } from '../src/http/routes/operate/connections.ts'
import { environmentRoutes } from '../src/http/routes/operate/environment.ts'
import { auditLogRoutes, systemLogRoutes } from '../src/http/routes/operate/logs.ts'
import { secretRoutes } from '../src/http/routes/operate/secrets.ts'
import { authRoutes } from '../src/http/routes/people/auth.ts'
import { authenticationGroupRoutes } from '../src/http/routes/people/authentication-groups.ts'
import { meRoutes, userLogRoutes } from '../src/http/routes/people/me.ts'
import { userRoutes } from '../src/http/routes/people/users.ts'
import { reservedRoots } from '../src/http/server/reserved-roots.ts'
import type { RouteFamily } from '../src/http/server/route-family.ts'
import { openServer } from '../src/http/server/server.ts'
import { openAuditChain } from '../src/records/audit-chain.ts'
import { openAuditLog } from '../src/records/audit-log.ts'
import { openFieldRules } from '../src/records/fields/field-rules.ts'
import { validatedDatabase } from '../src/records/fields/validated-database.ts'
import { openRecords } from '../src/records/records.ts'
import { secretKeys, signingSecret } from '../src/records/secrets/signing-secret.ts'
import { openTemplates } from '../src/records/templates.ts'
import type { JsonValue } from '../src/shared/json.ts'
import type { Database } from '../src/storage/database.ts'
import { bareEndpointServices, bareRunServices } from './bare-services.ts'
import { textAt } from './json-at.ts'
import { openTestDatabase, type TestClock } from './test-database.ts'

const password = 'correct horse battery'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface ManagementAnswer {
  readonly status: number
  /** Parsed; undefined when there was none. Read with `json-at.ts`. */
  readonly body: JsonValue | undefined
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface ManagementServer {
  readonly access: Access
  readonly flows: Flows
  readonly database: Database
  readonly clock: TestClock
  /** To a path under /api/v1, as a user by name; '' is anonymous. */
  send(
    method: Method,
    path: string,
    as: string,
    body?: JsonValue,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ManagementAnswer>
  addUser(username: string, scopes: readonly string[], groups?: readonly string[]): Promise<string>
  close(): Promise<void>
}

/** As QUOIN_SECRETS_KEY. */
export const secretsKey = Buffer.alloc(32, 7).toString('base64')

/** Everything that manages a cluster, behind one door on a real database, with cheap password hashes. */
export async function openManagementServer(): Promise<ManagementServer> {
  const { database: plain, clock, directory, close } = await openTestDatabase()
  await openTemplates(plain)
  await openValidationRules(plain)
  const fields = await openFieldRules(plain)
  const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
  const database = validatedDatabase(plain, fields, { clock, random })
  const access = await openAccess({
    database,
    clock,
    random,
    secret: signingSecret(Buffer.alloc(32, 1)),
    settings: {
      lockoutAttempts: 3,
      lockoutSeconds: 900,
      addressAttempts: 100,
      tokenSeconds: 1_209_600,
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
  })
  const flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(database, clock),
    catalogue: await loadBlocks(),
    random,
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    secretKeys: secretKeys(secretsKey, []),
    reservedRoots,
    fields,
  })
  const auditChain = await openAuditChain({
    database,
    clock,
    keys: secretKeys(secretsKey, []),
    offline: true,
  })
  const audit = await openAuditLog(database, { ...auditedAccess, ...auditedRecords }, auditChain)
  await access.ensureAdministrator(password)
  const { records } = flows
  const described = (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group))
  const families: RouteFamily[] = [
    authRoutes(access),
    meRoutes(access),
    userRoutes(access),
    authenticationGroupRoutes(access),
    userLogRoutes(access),
    systemLogRoutes(flows),
    auditLogRoutes({ records, audit, auditChain }),
    blueprintRoutes(flows),
    blueprintDeploymentRoutes(flows, access),
    blockCatalogueRoutes(() => described, flows),
    blueprintActionRoutes(flows),
    blueprintFieldRoutes(flows),
    blueprintTemplateRoutes(records),
    blueprintValidationRoutes(records),
    environmentRoutes(flows.environmentValues, records),
    secretRoutes(flows, access.providers),
    connectionRoutes(flows, records),
    customEndpoints({
      flows,
      runs: runPipeline(flows),
      idempotency: await openIdempotency(database, clock),
      ...(await bareEndpointServices(flows, directory)),
    }),
  ]
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
    api: families,
  })
  const tokens = new Map<string, Promise<string>>()

  function tokenOf(username: string): Promise<string> {
    const token =
      tokens.get(username) ??
      access.signIn({ username, password, ip: '192.0.2.1' }).then((signedIn) => signedIn.access_token)
    tokens.set(username, token)
    return token
  }

  async function send(
    method: Method,
    path: string,
    as: string,
    body?: JsonValue,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ManagementAnswer> {
    const authorization = as === '' ? {} : { authorization: `Bearer ${await tokenOf(as)}` }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await server.app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { 'user-agent': 'test agent', ...authorization, ...type, ...more },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return {
      status: reply.statusCode,
      body:
        reply.body === '' || `${reply.headers['content-type']}`.includes('ndjson')
          ? undefined
          : JSON.parse(reply.body),
      text: reply.body,
      headers: reply.headers,
    }
  }

  return {
    access,
    flows,
    database,
    clock,
    send,
    async addUser(username, scopes, groups = []) {
      const input = { username, password, custom_scopes: [...scopes], groups: [...groups] }
      const made = await send('POST', '/users', 'admin', input)
      if (made.status !== 200) throw new Error(made.text)
      return textAt(made.body, '_meta', 'guid')
    },
    async close() {
      await server.close()
      await flows.close()
      await access.close()
      await close()
    },
  }
}
