/**
 * The composition root: storage → blocks → access, engine → doors. The only file that builds things; what it opened is
 * closed in reverse order, all of it, whatever fails.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Access, openAccess } from './access/access.ts'
import { auditedAccess } from './access/audited-access.ts'
import type { FirstAdministrator } from './access/first-administrator.ts'
import type { PasswordCost } from './access/password-hash.ts'
import { openBackground, queueDepths } from './background.ts'
import { describeBlock } from './blocks/describe-block.ts'
import { findBlocks, loadBlocks } from './blocks/load-blocks.ts'
import { openAssets } from './engine/assets.ts'
import { auditedRecords } from './engine/audited-records.ts'
import { openDocumentHistory } from './engine/document-history.ts'
import { openDocumentImports } from './engine/document-import.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { openFieldRules } from './engine/fields/field-rules.ts'
import { ruledStorage } from './engine/fields/ruled-storage.ts'
import { installBlueprint } from './engine/install-blueprint.ts'
import { keepEmptyLists } from './engine/keep-empty-lists.ts'
import { openExpiryPurge } from './engine/purge-expired.ts'
import { queueSteering } from './engine/queue-steering.ts'
import { openAssetSweep } from './engine/sweep-assets.ts'
import { openTemplates } from './engine/templates.ts'
import { openTracing } from './engine/tracing/tracing.ts'
import { openValidationRules } from './engine/validation-rules.ts'
import { settleStuckFlows, stuckDirectory } from './engine/watchdog/stuck-flows.ts'
import { customEndpoints } from './http/custom-endpoints.ts'
import { endpointDescriptions } from './http/endpoint-descriptions.ts'
import { openIdempotency } from './http/endpoint-idempotency.ts'
import { openMetrics } from './http/metrics/metrics.ts'
import { openPageRoom } from './http/pages/open-page-room.ts'
import { pageDoor } from './http/pages/page-door.ts'
import { reservedPageRoots } from './http/reserved-page-roots.ts'
import { reservedRoots } from './http/reserved-roots.ts'
import { assetRoutes } from './http/routes/assets.ts'
import { auditLogRoutes } from './http/routes/audit-logs.ts'
import { authRoutes } from './http/routes/auth.ts'
import { authenticationGroupRoutes } from './http/routes/authentication-groups.ts'
import { blockCatalogueRoutes } from './http/routes/blocks.ts'
import { blueprintActionRoutes } from './http/routes/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from './http/routes/blueprint-deployment.ts'
import { blueprintEditRoutes } from './http/routes/blueprint-edits.ts'
import { blueprintFieldRoutes } from './http/routes/blueprint-fields.ts'
import { blueprintTemplateRoutes } from './http/routes/blueprint-templates.ts'
import { blueprintTracingRoutes } from './http/routes/blueprint-tracing.ts'
import { blueprintValidationRoutes } from './http/routes/blueprint-validation.ts'
import { blueprintVersionRoutes } from './http/routes/blueprint-versions.ts'
import { blueprintRoutes } from './http/routes/blueprints.ts'
import { documentRoutes } from './http/routes/documents.ts'
import { documentTransferRoutes } from './http/routes/documents-transfer.ts'
import { healthRoutes } from './http/routes/health.ts'
import { infoRoutes } from './http/routes/info.ts'
import { meRoutes } from './http/routes/me.ts'
import { metricsRoutes } from './http/routes/metrics.ts'
import { nodeRoutes } from './http/routes/nodes.ts'
import { docsRoutes, openApiRoutes } from './http/routes/open-api.ts'
import { preparationRoutes } from './http/routes/preparations.ts'
import { queueRoutes } from './http/routes/queues.ts'
import { runRoutes } from './http/routes/runs.ts'
import { scheduleRoutes } from './http/routes/schedules.ts'
import { staticFileRoutes } from './http/routes/static-files.ts'
import { storageAdviceRoutes } from './http/routes/storage-advice.ts'
import { storageRoutes } from './http/routes/storages.ts'
import { studioFileRoutes } from './http/routes/studio-files.ts'
import { systemLogRoutes } from './http/routes/system-logs.ts'
import { userLogRoutes } from './http/routes/user-logs.ts'
import { userRoutes } from './http/routes/users.ts'
import { openServer, type Server } from './http/server.ts'
import { openAssetStore } from './open-asset-store.ts'
import { noteDamage, openStorage } from './open-storage.ts'
import { OptionError, type Options, optionTable } from './options.ts'
import { accessSettings, httpSettings, runLimits } from './quoin-settings.ts'
import { releasers } from './releasers.ts'
import type { Clock } from './shared/clock.ts'
import { QuoinError } from './shared/errors.ts'
import { guidSource, type Random } from './shared/guid.ts'
import { pooledRandom } from './shared/pooled-random.ts'
import { openAuditLog } from './storage/audit-log.ts'
import type { ClusterNode } from './storage/cluster.ts'
import { eventLoopLoad } from './storage/event-loop-load.ts'
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
  /** For tests that are not about passwords: a hash takes 25 ms of processor time otherwise. */
  readonly passwordCost?: PasswordCost
  /** For commands that work on the data of a server that is not running: no jobs, no schedules, no purging. */
  readonly offline?: true
}

const STOP_MS = 10_000

/** Opens everything, ready to listen. */
export async function openQuoin(
  options: Options,
  { clock, random, synchronous, passwordCost, offline }: Surroundings,
): Promise<Quoin> {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  try {
    const started = Math.floor(clock() / 1000)
    const node = options.node || hostname()
    let damaged = false
    const noticed: string[] = []
    const oneProcess = await openStorage(options, {
      clock,
      random,
      node: { name: node, version },
      synchronous,
      notice(message, isDamaged) {
        damaged ||= isDamaged
        noticed.push(message)
        // The system log lies in the database that this is about.
        process.stderr.write(`${message}\n`)
      },
    })
    opened.add(() => oneProcess.close())
    let settleStuck: (() => Promise<void>) | undefined
    const workers =
      options.workers > 1 && !offline
        ? (await import('./workers/workers.ts')).openWorkers({
            storage: oneProcess,
            options,
            clock,
            newGuid: guidSource(clock, pooledRandom(random)),
            node: { name: node, version, started },
            program: new URL('./reader-process.ts', import.meta.url),
            readerLost: () => void settleStuck?.().catch(() => undefined),
            damaged: (reason) => noteDamage(oneProcess, reason),
          })
        : undefined
    const engineOfStorage = workers?.storage ?? oneProcess
    await openTemplates(engineOfStorage)
    await keepEmptyLists(engineOfStorage)
    await openValidationRules(engineOfStorage)
    // From here on every write of a document keeps to the rules of its fields, whoever writes.
    const rules = await openFieldRules(engineOfStorage)
    const storage = ruledStorage(engineOfStorage, rules)
    const catalogue = await loadBlocks()
    const access = await openAccess({
      storage,
      clock,
      random,
      settings: { ...accessSettings(options), ...(passwordCost && { passwordCost }) },
    })
    opened.add(() => access.close())
    const engine = await openEngine({
      storage,
      catalogue,
      clock,
      random,
      limits: runLimits(options),
      allowedHosts: options.allowedHosts,
      reservedRoots,
      reservedPageRoots,
    })
    opened.add(() => engine.close())
    for (const message of noticed) engine.log.write({ level: 'error', message })
    const history = await openDocumentHistory(storage)
    opened.add(() => history.close())
    const files = await openAssetStore(options, engine.newGuid, clock)
    opened.add(() => files.close())
    const assets = await openAssets(engine.records, files)
    const imports = await openDocumentImports({
      storage,
      directory: join(options.data, 'imports'),
      newGuid: engine.newGuid,
    })
    opened.add(() => imports.close())
    if (!offline) {
      const purge = openExpiryPurge({ storage, clock, log: engine.log })
      opened.add(() => purge.close())
      const sweep = openAssetSweep({ storage, assets, clock, log: engine.log })
      opened.add(() => sweep.close())
    }
    const tracing = await openTracing(engine)
    opened.add(() => tracing.close())
    const metrics = openMetrics({
      engine: tracing.engine,
      version,
      queues: async () => queueDepths(await storage.jobs.queues()),
    })
    opened.add(() => metrics.close())
    // Before anything runs that could write what is audited.
    const audit = await openAuditLog(storage, { ...auditedAccess, ...auditedRecords })
    const documents = { records: engine.records, history, audit }
    // Before anything of theirs runs again.
    settleStuck = () =>
      settleStuckFlows({
        deployments: engine.deployments,
        log: engine.log,
        clock,
        directory: stuckDirectory(options.data),
      })
    if (!offline) await settleStuck()
    const background = await openBackground({
      storage,
      engine: metrics.engine,
      access,
      clock,
      random,
      offline: offline ?? false,
    })
    opened.add(() => background.close())
    // Of nodes that start together one makes the administrator, and installs what it is to find.
    const administrator = await storage.alone('first start', async () => {
      const made = await access.ensureAdministrator(options.adminPassword || undefined).catch(namingSetting)
      if (made && options.examples) await installExample(engine, made)
      return made
    })
    const describe = endpointDescriptions(engine.live.table, rules.of)
    const nodes = clusterNodes(storage, { guid: engine.newGuid(), name: node, version, started }, clock)
    const info = async () => ({
      name: 'Quoin',
      version,
      environment: options.environment,
      host: hostname(),
      node,
      nodes: (await nodes()).filter(({ live }) => live).length,
      started,
      flags: { storage: storage.engine },
    })
    const idempotency = await openIdempotency(storage, clock)
    const pages = await openPageRoom({
      access,
      engine: metrics.engine,
      storage,
      assets,
      clock,
      random,
      idempotency,
      rulesOf: rules.of,
    })
    metrics.countStreams(() => pages.events.size)
    const metricsText = workers ? async () => workers.metricsText(await metrics.all()) : metrics.text
    const door = await openServer({
      access,
      clock,
      version,
      settings: httpSettings(options),
      api: [
        authRoutes(access),
        meRoutes(access),
        userRoutes(access),
        infoRoutes(info),
        nodeRoutes(nodes),
        blueprintRoutes(engine),
        blueprintDeploymentRoutes(engine, access),
        blueprintVersionRoutes(engine),
        blockCatalogueRoutes(
          (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
        ),
        blueprintActionRoutes(engine),
        blueprintEditRoutes(engine),
        blueprintFieldRoutes(engine.records),
        blueprintTracingRoutes(tracing),
        runRoutes(tracing, access),
        blueprintTemplateRoutes(engine.records),
        blueprintValidationRoutes(engine.records),
        storageRoutes(documents, engine.live),
        storageAdviceRoutes(documents, engine.live),
        preparationRoutes(engineOfStorage),
        documentRoutes(documents),
        documentTransferRoutes(documents, imports),
        assetRoutes(assets),
        queueRoutes(storage.jobs, options.entity, queueSteering(engineOfStorage, audit)),
        ...(background.scheduler ? [scheduleRoutes(background.scheduler)] : []),
        authenticationGroupRoutes(access),
        userLogRoutes(access),
        systemLogRoutes(engine),
        auditLogRoutes(engine.records),
        openApiRoutes(describe),
        customEndpoints(metrics.engine, idempotency),
      ],
      root: [
        docsRoutes(describe),
        staticFileRoutes(assets),
        studioFileRoutes(fileURLToPath(new URL('../dist/studio', import.meta.url))),
        healthRoutes(storage, undefined, () => damaged),
        metricsRoutes({ text: metricsText, token: options.metricsToken, environment: options.environment }),
        pageDoor(pages),
      ],
      finished: metrics.finished,
      cluster: storage.cluster,
    })
    metrics.countWaiting(door.waitingBytes)
    const server = workers?.door(door, { access, log: engine.log }) ?? door
    opened.add(async () => {
      // Runs that go on behind their reply have what is left of the time that requests in flight have.
      const late = clock() + STOP_MS
      await server.close()
      await metrics.settled(Math.max(0, late - clock()))
    })
    // Runs at a breakpoint would keep the server waiting.
    opened.add(() => tracing.runs.release())
    return { access, engine, server, storage, version, administrator, close: opened.release }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** Whoever starts Quoin has written the password into a setting. */
function namingSetting(error: unknown): never {
  if (!(error instanceof QuoinError) || !error.fields?.includes('password')) throw error
  throw new OptionError(
    `${error.message.replace(/^password/, optionTable.adminPassword.variable)} Give another one, or none: then a random one is made and printed once.`,
  )
}

/** The nodes of the cluster; where there is one, that one. */
function clusterNodes(
  { cluster }: Storage,
  self: Pick<ClusterNode, 'guid' | 'name' | 'version' | 'started'>,
  clock: Clock,
): () => Promise<readonly ClusterNode[]> {
  if (cluster) return () => cluster.nodes()
  const load = eventLoopLoad()
  return async () => [{ ...self, seen: Math.floor(clock() / 1000), load: load(), live: true, self: true }]
}

async function installExample(engine: Engine, { guid, username }: FirstAdministrator): Promise<void> {
  const file = await readFile(new URL('../examples/tasks.blueprint.json', import.meta.url), 'utf8')
  await installBlueprint(engine, JSON.parse(file), { guid, username })
}
