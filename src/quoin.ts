/**
 * The composition root: storage → blocks → access, engine → doors. The only file that builds things; what it opened is
 * closed in reverse order, all of it, whatever fails.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { type Access, openAccess } from './access/access.ts'
import type { FirstAdministrator } from './access/first-administrator.ts'
import { loadBlocks } from './blocks/load-blocks.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { installBlueprint } from './engine/install-blueprint.ts'
import { customEndpoints } from './http/custom-endpoints.ts'
import { describeEndpoints } from './http/describe-endpoints.ts'
import { openIdempotency } from './http/endpoint-idempotency.ts'
import { reservedRoots } from './http/reserved-roots.ts'
import { authRoutes } from './http/routes/auth.ts'
import { blueprintActionRoutes } from './http/routes/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from './http/routes/blueprint-deployment.ts'
import { blueprintRoutes } from './http/routes/blueprints.ts'
import { infoRoutes } from './http/routes/info.ts'
import { meRoutes } from './http/routes/me.ts'
import { docsRoutes, openApiRoutes } from './http/routes/open-api.ts'
import { userRoutes } from './http/routes/users.ts'
import { openServer, type Server } from './http/server.ts'
import type { Options } from './options.ts'
import { releasers } from './releasers.ts'
import type { Clock } from './shared/clock.ts'
import type { Random } from './shared/guid.ts'
import { openSqliteStorage } from './storage/sqlite/sqlite-storage.ts'
import type { Storage } from './storage/storage.ts'

export interface Quoin {
  readonly access: Access
  readonly engine: Engine
  readonly server: Server
  readonly storage: Storage
  readonly version: string
  /** The first administrator, when this start made it; its password only if nobody gave one. */
  readonly administrator: FirstAdministrator | undefined
  close(): Promise<void>
}

export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  /** For tests that need no disk: do not wait for it. */
  readonly synchronous?: 'OFF'
}

const MAX_CALL_DEPTH = 32

/** Opens everything, ready to listen. */
export async function openQuoin(
  options: Options,
  { clock, random, synchronous }: Surroundings,
): Promise<Quoin> {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  try {
    const started = Math.floor(clock() / 1000)
    const storage = await openSqliteStorage({
      directory: options.data,
      clock,
      random,
      entity: options.entity,
      ...(synchronous && { synchronous }),
    })
    opened.add(() => storage.close())
    const catalogue = await loadBlocks()
    const access = await openAccess({
      storage,
      clock,
      random,
      settings: {
        lockoutAttempts: options.lockoutAttempts,
        lockoutSeconds: options.lockoutSeconds,
        addressAttempts: 100,
        tokenSeconds: 14 * 86_400,
      },
    })
    opened.add(() => access.close())
    const engine = await openEngine({
      storage,
      catalogue,
      clock,
      random,
      limits: { deadline: options.runDeadline, budget: options.runBudget, depth: MAX_CALL_DEPTH },
      allowedHosts: options.allowedHosts,
      reservedRoots,
    })
    opened.add(() => engine.close())
    const administrator = await access.ensureAdministrator(options.adminPassword || undefined)
    if (administrator && options.examples) await installExample(engine, administrator)
    const describe = (identity: Parameters<typeof describeEndpoints>[1]) =>
      describeEndpoints(engine.live.table(), identity)
    const info = () => ({
      name: 'Quoin',
      version,
      environment: options.environment,
      host: hostname(),
      node: hostname(),
      nodes: 1,
      started,
      flags: { storage: storage.engine },
    })
    const server = await openServer({
      access,
      clock,
      version,
      settings: {
        host: options.host,
        port: options.port,
        bodyLimit: options.bodyLimit,
        corsOrigins: options.corsOrigins,
        rateLimit: options.rateLimit,
        environment: options.environment,
        trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
        logLevel: options.logLevel,
      },
      api: [
        authRoutes(access),
        meRoutes(access),
        userRoutes(access),
        infoRoutes(info),
        blueprintRoutes(engine),
        blueprintDeploymentRoutes(engine, access),
        blueprintActionRoutes(engine),
        openApiRoutes(describe),
        customEndpoints(engine, await openIdempotency(storage, clock)),
      ],
      root: [docsRoutes(describe)],
    })
    opened.add(() => server.close())
    return { access, engine, server, storage, version, administrator, close: opened.release }
  } catch (error) {
    await opened.release()
    throw error
  }
}

async function installExample(engine: Engine, { guid, username }: FirstAdministrator): Promise<void> {
  const file = await readFile(new URL('../examples/tasks.blueprint.json', import.meta.url), 'utf8')
  await installBlueprint(engine, JSON.parse(file), { guid, username })
}
