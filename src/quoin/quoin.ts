/**
 * The composition root: storage → blocks → access, flows → doors. The only file that builds things; what it opened is
 * closed in reverse order, all of it, whatever fails.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Access, openAccess } from '../access/access.ts'
import { auditedAccess } from '../access/audited-access.ts'
import type { FirstAdministrator } from '../access/first-administrator.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import { describeBlock } from '../blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../blocks/load-blocks.ts'
import { auditedRecords } from '../flows/audited-records.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import { installBlueprint } from '../flows/blueprints/install-blueprint.ts'
import { keepEmptyLists } from '../flows/blueprints/keep-empty-lists.ts'
import { type Flows, openFlows } from '../flows/flows.ts'
import { openValidationRules } from '../flows/live/validation-rules.ts'
import { type Runs, runPipeline } from '../flows/run-pipeline.ts'
import { openTracing } from '../flows/trace/tracing.ts'
import { settleStuckFlows, stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import { endpointDescriptions } from '../http/docs/endpoint-descriptions.ts'
import { customEndpoints } from '../http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../http/endpoints/endpoint-idempotency.ts'
import { openMetrics } from '../http/metrics/metrics.ts'
import { openPageRoom } from '../http/pages/open-page-room.ts'
import { pageDoor } from '../http/pages/page-door.ts'
import { blockCatalogueRoutes } from '../http/routes/blueprints/blocks.ts'
import { blueprintActionRoutes } from '../http/routes/blueprints/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from '../http/routes/blueprints/blueprint-deployment.ts'
import { blueprintEditRoutes } from '../http/routes/blueprints/blueprint-edits.ts'
import { blueprintFieldRoutes } from '../http/routes/blueprints/blueprint-fields.ts'
import { blueprintTemplateRoutes } from '../http/routes/blueprints/blueprint-templates.ts'
import { blueprintTracingRoutes } from '../http/routes/blueprints/blueprint-tracing.ts'
import { blueprintValidationRoutes } from '../http/routes/blueprints/blueprint-validation.ts'
import { blueprintVersionRoutes } from '../http/routes/blueprints/blueprint-versions.ts'
import { blueprintRoutes } from '../http/routes/blueprints/blueprints.ts'
import { runRoutes } from '../http/routes/blueprints/runs.ts'
import { assetRoutes } from '../http/routes/data/assets.ts'
import { documentRoutes } from '../http/routes/data/documents.ts'
import { documentTransferRoutes } from '../http/routes/data/documents-transfer.ts'
import { preparationRoutes } from '../http/routes/data/preparations.ts'
import { storageAdviceRoutes } from '../http/routes/data/storage-advice.ts'
import { storageRoutes } from '../http/routes/data/storages.ts'
import { auditLogRoutes } from '../http/routes/operate/audit-logs.ts'
import { healthRoutes } from '../http/routes/operate/health.ts'
import { infoRoutes } from '../http/routes/operate/info.ts'
import { metricsRoutes } from '../http/routes/operate/metrics.ts'
import { nodeRoutes } from '../http/routes/operate/nodes.ts'
import { queueRoutes } from '../http/routes/operate/queues.ts'
import { scheduleRoutes } from '../http/routes/operate/schedules.ts'
import { systemLogRoutes } from '../http/routes/operate/system-logs.ts'
import { authRoutes } from '../http/routes/people/auth.ts'
import { authenticationGroupRoutes } from '../http/routes/people/authentication-groups.ts'
import { meRoutes } from '../http/routes/people/me.ts'
import { userLogRoutes } from '../http/routes/people/user-logs.ts'
import { userRoutes } from '../http/routes/people/users.ts'
import { docsRoutes, openApiRoutes } from '../http/routes/site/open-api.ts'
import { staticFileRoutes } from '../http/routes/site/static-files.ts'
import { studioFileRoutes } from '../http/routes/site/studio-files.ts'
import { reservedPageRoots } from '../http/server/reserved-page-roots.ts'
import { reservedRoots } from '../http/server/reserved-roots.ts'
import { openServer, type Server } from '../http/server/server.ts'
import { OptionError, type Options, optionTable } from '../options.ts'
import { openAssets } from '../records/assets/assets.ts'
import { openAssetSweep } from '../records/assets/sweep-assets.ts'
import { openAuditLog } from '../records/audit-log.ts'
import { openDocumentHistory } from '../records/documents/document-history.ts'
import { openDocumentImports } from '../records/documents/document-import.ts'
import { openFieldRules } from '../records/fields/field-rules.ts'
import { ruledDatabase } from '../records/fields/ruled-database.ts'
import { openExpiryPurge } from '../records/purge-expired.ts'
import { openTemplates } from '../records/templates.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { guidSource, type Random } from '../shared/guid.ts'
import { pooledRandom } from '../shared/pooled-random.ts'
import type { Capabilities } from '../storage/capabilities.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import type { Database } from '../storage/database.ts'
import { eventLoopLoad } from '../workers/event-loop-load.ts'
import { openBackground, queueDepths } from './background.ts'
import { openAssetStore } from './open-asset-store.ts'
import { noteDamage, openDatabase } from './open-database.ts'
import { accessSettings, httpSettings, runLimits } from './quoin-settings.ts'
import { releasers } from './releasers.ts'

export interface Quoin {
  readonly access: Access
  readonly flows: Flows
  readonly runs: Runs
  readonly server: Server
  readonly database: Database
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
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  try {
    const started = Math.floor(clock() / 1000)
    const node = options.node || hostname()
    let damaged = false
    const noticed: string[] = []
    const oneProcess = await openDatabase(options, {
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
        ? (await import('../workers/workers.ts')).openWorkers({
            database: oneProcess,
            options,
            clock,
            newGuid: guidSource(clock, pooledRandom(random)),
            node: { name: node, version, started },
            program: new URL('./reader-process.ts', import.meta.url),
            readerLost: () => void settleStuck?.().catch(() => undefined),
            damaged: (reason) => noteDamage(oneProcess, reason),
          })
        : undefined
    const rawDatabase = workers?.database ?? oneProcess
    await openTemplates(rawDatabase)
    await keepEmptyLists(rawDatabase)
    await openValidationRules(rawDatabase)
    // From here on every write of a document keeps to the rules of its fields, whoever writes.
    const rules = await openFieldRules(rawDatabase)
    const database = ruledDatabase(rawDatabase, rules)
    const catalogue = await loadBlocks()
    const access = await openAccess({
      database,
      clock,
      random,
      settings: { ...accessSettings(options), ...(passwordCost && { passwordCost }) },
    })
    opened.add(() => access.close())
    const flows = await openFlows({
      database,
      catalogue,
      clock,
      random,
      limits: runLimits(options),
      allowedHosts: options.allowedHosts,
      reservedRoots,
      reservedPageRoots,
    })
    opened.add(() => flows.close())
    for (const message of noticed) flows.log.write({ level: 'error', message })
    const history = await openDocumentHistory(database)
    opened.add(() => history.close())
    const files = await openAssetStore(options, flows.newGuid, clock)
    opened.add(() => files.close())
    const assets = await openAssets(flows.records, files)
    const imports = await openDocumentImports({
      database,
      directory: join(options.data, 'imports'),
      newGuid: flows.newGuid,
    })
    opened.add(() => imports.close())
    if (!offline) {
      const purge = openExpiryPurge({ database, clock, log: flows.log })
      opened.add(() => purge.close())
      const sweep = openAssetSweep({ database, assets, clock, log: flows.log })
      opened.add(() => sweep.close())
    }
    const tracing = await openTracing(flows)
    opened.add(() => tracing.close())
    const runs = runPipeline(flows, tracing.traced)
    const metrics = openMetrics({
      flows,
      runs,
      version,
      queues: async () => queueDepths(await database.capabilities.queues.list()),
    })
    opened.add(() => metrics.close())
    // Before anything runs that could write what is audited.
    const audit = await openAuditLog(database, { ...auditedAccess, ...auditedRecords })
    const documents = { records: flows.records, history, audit }
    // Before anything of theirs runs again.
    settleStuck = () =>
      settleStuckFlows({
        deployments: flows.deployments,
        log: flows.log,
        clock,
        directory: stuckDirectory(options.data),
      })
    if (!offline) await settleStuck()
    const background = await openBackground({
      database,
      flows,
      runs,
      access,
      clock,
      random,
      offline: offline ?? false,
    })
    opened.add(() => background.close())
    // Of nodes that start together one makes the administrator, and installs what it is to find.
    const administrator = await database.capabilities.alone('first start', async () => {
      const made = await access.ensureAdministrator(options.adminPassword || undefined).catch(namingSetting)
      if (made && options.examples) await installExample(flows, made)
      return made
    })
    const describe = endpointDescriptions(flows.live.table, rules.of)
    const nodes = clusterNodes(
      database.capabilities,
      { guid: flows.newGuid(), name: node, version, started },
      clock,
    )
    const info = async () => ({
      name: 'Quoin',
      version,
      environment: options.environment,
      host: hostname(),
      node,
      nodes: (await nodes()).filter(({ live }) => live).length,
      started,
      flags: { storage: database.capabilities.engine },
    })
    const idempotency = await openIdempotency(database, clock)
    const pages = await openPageRoom({
      access,
      flows,
      runs,
      database,
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
        blueprintRoutes(flows),
        blueprintDeploymentRoutes(flows, access),
        blueprintVersionRoutes(flows),
        blockCatalogueRoutes(
          (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
        ),
        blueprintActionRoutes(flows),
        blueprintEditRoutes(flows),
        blueprintFieldRoutes(flows.records),
        blueprintTracingRoutes(tracing),
        runRoutes(tracing, access),
        blueprintTemplateRoutes(flows.records),
        blueprintValidationRoutes(flows.records),
        storageRoutes(documents, flows.live),
        storageAdviceRoutes(documents, flows.live),
        preparationRoutes(database.capabilities.indexes),
        documentRoutes(documents),
        documentTransferRoutes(documents, imports),
        assetRoutes(assets),
        queueRoutes(database.capabilities, options.entity, queueSteering(rawDatabase, audit)),
        ...(background.scheduler ? [scheduleRoutes(background.scheduler)] : []),
        authenticationGroupRoutes(access),
        userLogRoutes(access),
        systemLogRoutes(flows),
        auditLogRoutes(flows.records),
        openApiRoutes(describe),
        customEndpoints({ flows, runs, idempotency }),
      ],
      root: [
        docsRoutes(describe),
        staticFileRoutes(assets),
        studioFileRoutes(fileURLToPath(new URL('../../dist/studio', import.meta.url))),
        healthRoutes(database, undefined, () => damaged),
        metricsRoutes({ text: metricsText, token: options.metricsToken, environment: options.environment }),
        pageDoor(pages),
      ],
      finished: metrics.finished,
      cluster: database.capabilities.cluster,
    })
    metrics.countWaiting(door.waitingBytes)
    const server = workers?.door(door, { access, log: flows.log }) ?? door
    opened.add(async () => {
      // Runs that go on behind their reply have what is left of the time that requests in flight have.
      const late = clock() + STOP_MS
      await server.close()
      await runs.settled(Math.max(0, late - clock()))
    })
    // Runs at a breakpoint would keep the server waiting.
    opened.add(() => tracing.runs.release())
    return { access, flows, runs, server, database, version, administrator, close: opened.release }
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
  { cluster }: Capabilities,
  self: Pick<ClusterNode, 'guid' | 'name' | 'version' | 'started'>,
  clock: Clock,
): () => Promise<readonly ClusterNode[]> {
  if (cluster) return () => cluster.nodes()
  const load = eventLoopLoad()
  return async () => [{ ...self, seen: Math.floor(clock() / 1000), load: load(), live: true, self: true }]
}

async function installExample(flows: Flows, { guid, username }: FirstAdministrator): Promise<void> {
  const file = await readFile(new URL('../../examples/tasks.blueprint.json', import.meta.url), 'utf8')
  await installBlueprint(flows, JSON.parse(file), { guid, username })
}
