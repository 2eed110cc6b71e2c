import { text } from 'node:stream/consumers'
import type { Identity } from '../access/identity-cache.ts'
import { applicationRoutes } from '../http/routes/blueprints/applications.ts'
import { blueprintActionRoutes } from '../http/routes/blueprints/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from '../http/routes/blueprints/blueprint-deployment.ts'
import { blueprintEditRoutes } from '../http/routes/blueprints/blueprint-edits.ts'
import { blueprintFieldRoutes } from '../http/routes/blueprints/blueprint-fields.ts'
import { blueprintTemplateRoutes } from '../http/routes/blueprints/blueprint-templates.ts'
import { blueprintRoutes } from '../http/routes/blueprints/blueprints.ts'
import { pushRoutes } from '../http/routes/blueprints/pushes.ts'
import { runRoutes } from '../http/routes/blueprints/runs.ts'
import { assetRoutes } from '../http/routes/data/assets.ts'
import { documentRoutes } from '../http/routes/data/documents.ts'
import { documentImportRoutes } from '../http/routes/data/documents-import.ts'
import { sampleDocumentRoutes } from '../http/routes/data/sample-documents.ts'
import { storageRoutes } from '../http/routes/data/storages.ts'
import { undoRunRoutes } from '../http/routes/data/undo-run.ts'
import { connectionDocumentRoutes } from '../http/routes/operate/connection-documents.ts'
import { connectionRoutes } from '../http/routes/operate/connections.ts'
import { environmentRoutes } from '../http/routes/operate/environment.ts'
import { auditLogRoutes } from '../http/routes/operate/logs.ts'
import { secretRoutes } from '../http/routes/operate/secrets.ts'
import { settingRoutes } from '../http/routes/operate/settings.ts'
import { waitRoutes } from '../http/routes/operate/waits.ts'
import { apiKeyRoutes } from '../http/routes/people/api-keys.ts'
import { authenticationGroupRoutes } from '../http/routes/people/authentication-groups.ts'
import { explainUserRoutes } from '../http/routes/people/explain-user.ts'
import { secondFactorRoutes } from '../http/routes/people/second-factors.ts'
import { userRoutes } from '../http/routes/people/users.ts'
import { openServer, type Server } from '../http/server/server.ts'
import type { Options } from '../options/options.ts'
import { missingData } from '../quoin/open-database.ts'
import { type OfflineQuoin, openOffline } from '../quoin/quoin.ts'
import { releasers } from '../quoin/releasers.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Terminal } from './command.ts'
import { bodyOf, type Management, Refused } from './management.ts'

/** Who has the files may do everything with them; records name the command as who did it. */
const operator: Identity = {
  guid: '',
  username: 'quoin command',
  scopes: new Set(['*']),
  user: { _meta: { guid: '' }, username: 'quoin command' },
  tokenGuid: '',
}

/**
 * The data directory itself, without a port: the same routes, with the operator as the caller of each request. On PostgreSQL
 * the command is a node of the cluster until it ends. Throws Refused if there is no data or a server is using the directory.
 */
export async function openLocalManagement(terminal: Terminal): Promise<Management> {
  const options = terminal.options()
  await checkData(options)
  const opened = releasers()
  try {
    const offline = await openOffline(
      { ...options, examples: false },
      { clock: terminal.clock, random: terminal.random },
    )
    opened.add(offline.close)
    const server = await openLocalServer(offline, options, terminal.clock)
    opened.add(() => server.close())
    return {
      async call(method, path, body) {
        const reply = await server.app.inject({
          method,
          url: `/api/v1${path}`,
          headers: {
            authorization: 'Bearer operator',
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { payload: JSON.stringify(body) }),
        })
        return bodyOf(reply.statusCode, reply.body)
      },
      async upload(path, { type, body }) {
        const reply = await server.app.inject({
          method: 'POST',
          url: `/api/v1${path}`,
          headers: { authorization: 'Bearer operator', 'content-type': type },
          payload: body,
        })
        return bodyOf(reply.statusCode, reply.body)
      },
      async download(path) {
        const reply = await server.app.inject({
          method: 'GET',
          url: `/api/v1${path}`,
          headers: { authorization: 'Bearer operator' },
          payloadAsStream: true,
        })
        const { statusCode } = reply
        if (statusCode >= 300) bodyOf(statusCode, await text(reply.stream()))
        return reply.stream()
      },
      close: opened.release,
    }
  } catch (error) {
    await opened.release()
    if (error instanceof QuoinError && error.code === 'UNAVAILABLE' && options.databaseUrl === '')
      throw inUse(error)
    throw error
  }
}

/** The management endpoints that commands use. */
function openLocalServer(
  {
    access,
    applications,
    assets,
    auditChain,
    documents,
    flows,
    imports,
    pushes,
    settings,
    steering,
    ...more
  }: OfflineQuoin,
  options: Options,
  clock: Clock,
): Promise<Server> {
  const { permissions, newGuid } = flows
  const { tracing, waits, version } = more
  return openServer({
    access: { ...access, identify: async () => operator },
    clock: clock,
    version,
    settings: { ...options, logLevel: 'silent', trustProxy: false, waitingBytes: 0 },
    api: [
      userRoutes(access),
      explainUserRoutes({
        ...{ access, permissions, table: flows.live.table, rules: more.rules },
        storages: () => flows.records.database.names(),
      }),
      secondFactorRoutes(access),
      apiKeyRoutes(access),
      authenticationGroupRoutes(access),
      blueprintFieldRoutes(flows),
      blueprintTemplateRoutes(flows.records),
      blueprintRoutes(flows),
      applicationRoutes(applications, pushes),
      pushRoutes(pushes),
      blueprintDeploymentRoutes(flows, access),
      blueprintActionRoutes(flows),
      blueprintEditRoutes(flows),
      storageRoutes(documents, flows.live, flows.permissions),
      sampleDocumentRoutes(documents, flows.permissions),
      documentRoutes(documents, flows.permissions),
      assetRoutes(assets),
      documentImportRoutes(documents, imports, flows.permissions),
      runRoutes(tracing, { ...access, identify: async () => operator }),
      undoRunRoutes({ documents, permissions, tracing, newGuid, cancel: steering.cancel }),
      environmentRoutes(flows.environmentValues, flows.records),
      secretRoutes(flows, access.providers),
      connectionRoutes(flows, flows.records),
      connectionDocumentRoutes(flows, flows.records.database),
      settingRoutes(settings),
      waitRoutes(waits, clock),
      auditLogRoutes({ records: flows.records, audit: documents.audit, auditChain }),
    ],
  })
}

/** Opening would create an empty database, which no export or new password needs. */
async function checkData(options: Options): Promise<void> {
  const place = await missingData(options)
  if (place === undefined) return
  const advice =
    options.databaseUrl === ''
      ? 'Set QUOIN_DATA to the data folder, or use --url.'
      : 'Set DATABASE_URL to the database of the nodes, or use --url.'
  throw new Refused(`There is no Quoin data in ${place}. ${advice}`, 0)
}

function inUse(error: QuoinError): Refused {
  return new Refused(
    `${error.message} While a server runs, use its API: quoin login http://<host>:<port> <username> once, then add --url http://<host>:<port>.`,
    0,
  )
}
