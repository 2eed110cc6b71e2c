import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentHandler, openAssistant } from '../agents/agents.ts'
import { describeBlock } from '../blocks/describe-block.ts'
import { type FoundBlock, findBlocks, loadBlocks } from '../blocks/load-blocks.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import type { Channels } from '../flows/channels.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import { approvalHandler } from '../http/approvals/approval-handler.ts'
import { endpointDescriptions } from '../http/docs/endpoint-descriptions.ts'
import { customEndpoints } from '../http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../http/endpoints/endpoint-idempotency.ts'
import type { EventStreams } from '../http/endpoints/event-streams.ts'
import { type FileOf, sendReply } from '../http/endpoints/request-and-reply.ts'
import { channelStreams } from '../http/live/channel-streams.ts'
import { liveReplies } from '../http/live/live-replies.ts'
import { type ChangeFeed, openChangeFeed, openStreams, type Streams } from '../http/live/streams.ts'
import { type Metrics, openMetrics } from '../http/metrics/metrics.ts'
import { oauthHandler } from '../http/oauth/oauth-handler.ts'
import { openPageServices } from '../http/pages/open-page-services.ts'
import { pageHandler } from '../http/pages/page-handler.ts'
import { providerHandler } from '../http/pages/provider-handler.ts'
import { assetFile } from '../http/replies/file-reply.ts'
import type { ManagedPreviews } from '../http/routes/blueprints/previews.ts'
import type { ManagedSpaces } from '../http/routes/operate/spaces.ts'
import { managementRoutes, siteRoutes } from '../http/routes.ts'
import { scimHandler } from '../http/scim/scim-handler.ts'
import { identifier } from '../http/server/authenticate.ts'
import { openServer, type Server } from '../http/server/server.ts'
import { passkeySite } from '../identity/passkey-challenge.ts'
import { plannedTimes } from '../queue/planned-times.ts'
import type { AuditStream } from '../records/audit-stream/audit-stream.ts'
import { type Backups, openBackups } from '../records/backups/backups.ts'
import { extensionFolder } from '../records/extensions/extension-folder.ts'
import type { Extensions } from '../records/extensions/extensions.ts'
import { ensureFigures } from '../records/figures/figure-documents.ts'
import { openFigureRecorder } from '../records/figures/figure-recorder.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Info } from '../shared/api/operate/nodes.ts'
import type { Clock } from '../shared/clock.ts'
import type { JsonObject } from '../shared/json.ts'
import { isLeader } from '../storage/capabilities.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import { queueDepths } from './background.ts'
import { holdDirectory, type NodeDatabase } from './open-database.ts'
import type { NodeFlows, NodeServices } from './open-flows.ts'
import type { NodeRecords } from './open-records.ts'
import type { SetStart } from './open-settings.ts'
import { assistantSettings, httpSettings, streamLimits } from './quoin-settings.ts'
import type { Start } from './start.ts'
import { eventLoopLoad } from './watchdog.ts'

const MINUTE = 60_000

/** Backups of the embedded database, by hand and by the schedule; undefined where PostgreSQL keeps the data. */
async function openNodeBackups(
  { options, set, clock, version, offline, opened }: SetStart,
  log: Pick<SystemLog, 'write'>,
): Promise<Backups | undefined> {
  if (options.databaseUrl !== '' || offline) return undefined
  const backups = await openBackups({
    data: options.data,
    folder: options.backups === '' ? join(options.data, 'backups') : options.backups,
    version,
    clock,
    lock: holdDirectory,
    failed: (message) => log.write({ level: 'error', message }),
  })
  opened.add(() => backups.close())
  const settings = () => {
    const { backupSchedule: cron, backupKeep: keep, timeZone } = set.present()
    return { cron, keep, timeZone }
  }
  const schedule = backupSchedule(backups, settings, clock)
  const failed = (error: unknown) =>
    log.write({ level: 'error', message: `A scheduled backup could not begin: ${String(error)}` })
  const timer = setInterval(() => void schedule.look().catch(failed), MINUTE).unref()
  opened.add(async () => clearInterval(timer))
  return backups
}

/** The same list until an extension is switched on or off. */
function blocksOf(found: readonly FoundBlock[], extensions: Pick<Extensions, 'descriptions'>) {
  const own = found.map(({ definition, group }) => describeBlock(definition, group))
  let before = { more: extensions.descriptions(), all: [...own, ...extensions.descriptions()] }
  return () => {
    const more = extensions.descriptions()
    if (more !== before.more) before = { more, all: [...own, ...more] }
    return before.all
  }
}

async function blockParts(
  folder: string,
  { extensions, flows, drafts }: Pick<NodeServices, 'extensions' | 'flows' | 'drafts'>,
) {
  const inFolder = extensionFolder(folder, await loadBlocks())
  return {
    blocks: blocksOf(await findBlocks(), extensions),
    extensions: { stored: extensions, inFolder, table: flows.live.table, drafts },
  }
}

const STOP_MS = 10_000
const studio = fileURLToPath(new URL('../../dist/studio', import.meta.url))

export interface NodeServers {
  readonly server: Server
  readonly backups: Backups | undefined
}

/** Everything that a request can come in by: management, endpoints, pages, the studio, and what is counted of it. */
export async function openNodeServers(
  start: SetStart,
  nodeDatabase: NodeDatabase,
  records: NodeRecords,
  running: NodeServices,
  managed: { readonly spaces: ManagedSpaces; readonly previews: ManagedPreviews } | undefined,
): Promise<NodeServers> {
  const { options, clock, random, version, opened } = start
  const { raw, isDamaged } = nodeDatabase
  const { database, rules, access, audit } = records
  const { flows, tracing, runs, background, waits } = running
  const { capabilities } = database
  const metrics = openNodeMetrics(start, records, running)
  await openNodeFigures(start, nodeDatabase, running, metrics)
  const describe = endpointDescriptions(flows.live.table, rules.of)
  const idempotency = await openIdempotency(database, clock)
  const fileOf = (asset: JsonObject) => assetFile(records.assets, asset)
  const uploads = { assets: records.assets, database, newGuid: flows.newGuid }
  const { news, streams, live } = openNodeLive(start, records, running, fileOf)
  const own = { ...records, flows, runs, clock, random, idempotency, rulesOf: rules.of, news }
  const pages = await openPageServices({ ...own, siteName: options.siteName })
  metrics.countStreams(() => pages.events.size, streams)
  const backups = await openNodeBackups(start, flows.log)
  const parts = {
    ...{ ...records, ...running, ...nodeInfo(start, nodeDatabase, flows), capabilities, describe, pages },
    ...{ idempotency, rulesOf: rules.of, hasFaulted: start.hasFaulted },
    ...{ settings: start.set.settings, backups, spaces: managed?.spaces, previews: managed?.previews },
    assistant: openAssistant({
      ...{ clock, database, audit, environment: flows.environment },
      settings: () => assistantSettings(start.set.present()),
    }),
    ...(await blockParts(options.blocks, running)),
    scheduler: background.scheduler,
    steering: queueSteering(raw, audit),
    ...{ entity: options.entity, clock, lacksFactor: await watchFactors(start, access, flows.log) },
    metrics: { text: metrics.text, token: options.metricsToken, environment: options.environment },
    ...{ isDamaged, isStreamLate: await openAuditStreaming(start, records, flows.log), studio },
  }
  const server = await openServer({
    ...{ access, clock, version, settings: httpSettings(start.set) },
    api: [
      ...managementRoutes(parts),
      customEndpoints({ flows, runs, idempotency, rulesOf: rules.of, fileOf, uploads, live }),
    ],
    root: [
      ...siteRoutes(parts),
      ...[approvalHandler(pages, waits), providerHandler(pages), oauthHandler(pages), scimHandler(access)],
      agentHandler(clock, version, flows.environment),
      pageHandler({ ...pages, waits, pushes: running.pushes }),
    ],
    ...{ finished: metrics.finished, telemetry: running.telemetry },
    cluster: capabilities.cluster,
  })
  metrics.countWaiting(server.waitingBytes)
  running.telemetry?.measure(metrics.all)
  opened.add(() => closeServers(start, server, running))
  // Runs at a breakpoint would keep the server waiting.
  opened.add(() => tracing.runs.release())
  return { server, backups }
}

function openNodeMetrics(
  { version, opened }: SetStart,
  { database }: NodeRecords,
  { flows, runs }: NodeFlows,
): Metrics {
  const queues = async () => queueDepths(await database.capabilities.queues.list())
  const metrics = openMetrics({ flows, runs, version, queues, database: database.capabilities.figures })
  opened.add(() => metrics.close())
  return metrics
}

/**
 * Runs that go on behind their reply have what is left of the time that requests in flight have. Jobs end, or are handed back, meanwhile: one
 * after the other, both would take longer than a process has for its stop, and until then more jobs would begin.
 */
async function closeServers(
  { clock, space }: SetStart,
  server: Server,
  { runs, background }: NodeFlows,
): Promise<void> {
  const late = clock() + STOP_MS
  const closeRequests = async () => {
    await server.close()
    await space?.drained(Math.max(0, late - clock()))
    await runs.settled(Math.max(0, late - clock()))
  }
  await Promise.all([closeRequests(), background.queue?.close()])
}

export interface BackupSchedule {
  /** Begins a backup if one is due. Gives whether it did. */
  look(): Promise<boolean>
}

interface ScheduleSettings {
  /** Empty: never. */
  readonly cron: string
  readonly keep: number
  readonly timeZone: string
}

/**
 * Due is the first planned time behind the newest scheduled backup: so several that were missed are made up for by one. A time ahead of the
 * clock, from when that was wrong, does not count: until it comes none would be due.
 */
export function backupSchedule(
  backups: Pick<Backups, 'list' | 'make' | 'running'>,
  settings: () => ScheduleSettings,
  clock: Clock,
): BackupSchedule {
  /** One that failed is tried again at its next time, not each minute. */
  let tried = 0
  return {
    async look() {
      const { cron, keep, timeZone } = settings()
      if (cron === '' || backups.running()) return false
      const scheduled = (await backups.list()).filter(({ kind }) => kind === 'schedule')
      const now = clock()
      const past = [tried, ...scheduled.map(({ made }) => made * 1000)].filter((time) => time <= now)
      const due = plannedTimes({ cron, timeZone })?.next(Math.max(0, ...past))
      if (due === undefined || due > now) return false
      tried = now
      await backups.make('schedule', keep)
      return true
    },
  }
}

// What a node says of itself and of the others, for `/info` and `/_system/nodes`.

export interface NodeInfo {
  /** The nodes of the cluster; where there is one, that one. */
  nodes(): Promise<readonly ClusterNode[]>
  info(): Promise<Omit<Info, 'api'>>
}

/** Where passkeys work; empty for nowhere. */
function passkeyHost(publicUrl: string): string {
  const site = passkeySite(publicUrl)
  return typeof site === 'string' ? '' : site.host
}

function nodeInfo(
  { options, set, clock, version, space }: SetStart,
  { raw, node }: NodeDatabase,
  { newGuid }: Pick<Flows, 'newGuid'>,
): NodeInfo {
  const { cluster, engine } = raw.capabilities
  const self = { guid: newGuid(), ...node }
  const load = eventLoopLoad()
  const nodes = async () =>
    cluster
      ? cluster.nodes()
      : [{ ...self, seen: Math.floor(clock() / 1000), load: load(), live: true, self: true }]
  const info = async () => ({
    name: 'Quoin',
    version,
    environment: options.environment,
    host: hostname(),
    node: node.name,
    nodes: (await nodes()).filter(({ live }) => live).length,
    started: node.started,
    flags: {
      ...{ storage: engine, passkeys: passkeyHost(set.present().publicUrl) },
      ...(space && { space: true }),
    },
  })
  return { nodes, info }
}

/** Stores what this node serves, minute by minute. */
async function openNodeFigures(
  { clock, offline, opened }: Start,
  { raw, node }: NodeDatabase,
  { flows: { log } }: Pick<NodeFlows, 'flows'>,
  metrics: Pick<Metrics, 'traffic'>,
): Promise<void> {
  await ensureFigures(raw)
  if (offline) return
  const recorder = openFigureRecorder({
    database: raw,
    clock,
    node: node.name.slice(0, 255),
    traffic: metrics.traffic,
    leads: () => isLeader(raw.capabilities),
    failed: (error) =>
      log.write({
        level: 'warn',
        message: `The figures of a minute could not be stored yet: ${String(error)}`,
      }),
  })
  opened.add(() => recorder.close())
}

export interface NodeLive {
  readonly news: ChangeFeed
  readonly streams: Streams
  readonly live: EventStreams
}

/** What is sent while it changes: event streams of endpoints, and the news that pages are shown again by. */
function openNodeLive(
  { set, clock, random, opened }: SetStart,
  { database, access }: Pick<NodeRecords, 'database' | 'access'>,
  { flows, runs, channels }: { readonly flows: Flows; readonly runs: Runs; readonly channels: Channels },
  fileOf: FileOf,
): NodeLive {
  const { readVersions, cluster } = database.capabilities
  // Where versions have to be asked for first, streams go by the news of storages alone.
  const versions = readVersions.catchUp ? undefined : readVersions
  const news = openChangeFeed(database, flows.live, flows.permissions.leadsTo)
  opened.add(() => news.close())
  const failed = (error: unknown) =>
    flows.log.write({ level: 'error', message: `An event stream failed: ${String(error)}` })
  const streams = openStreams({
    ...{ live: flows.live, cluster, clock, random, failed, identify: identifier(access) },
    limits: streamLimits(set),
  })
  const { follow } = liveReplies({
    ...{ environment: flows.environment, runs, versions, news, streams, clock },
    sendReply: (exchange, reply) => sendReply(exchange, reply, { fileOf, flows }),
  })
  const { subscribe, checkSubscriber } = channelStreams({ channels, streams, clock })
  return { news, streams, live: { follow, subscribe, checkSubscriber, close: streams.close } }
}

const FACTORS_MS = 60_000

/**
 * Whether an administrator in production has no second factor, looked up once a minute at most. A node says so at its start; a
 * space, which is opened again and again, does not.
 */
async function watchFactors(
  { options, clock, offline, space }: SetStart,
  { countUnprotected }: Pick<NodeRecords['access'], 'countUnprotected'>,
  log: Pick<SystemLog, 'write'>,
): Promise<() => Promise<boolean>> {
  if (options.environment !== 'production' || offline) return async () => false
  let looked = Number.NEGATIVE_INFINITY
  let count = 0
  const look = async () => {
    if (Math.abs(clock() - looked) >= FACTORS_MS) {
      looked = clock()
      count = await countUnprotected()
    }
    return count > 0
  }
  if (space === undefined && (await look())) {
    const who = count === 1 ? 'An administrator has' : `${count} administrators have`
    const message = `${who} no second factor: a stolen password is enough to sign in. Add an authenticator app on /password/app, or require it with second_factor_days of a group.`
    log.write({ level: 'warn', message })
  }
  return look
}

/** Sends the audit log where the settings say. Gives whether records wait; its code is loaded where there is a receiver. */
async function openAuditStreaming(
  { options, clock, offline, opened, space }: SetStart,
  { database, auditChain }: Pick<NodeRecords, 'database' | 'auditChain'>,
  log: Pick<SystemLog, 'write'>,
): Promise<AuditStream['isLate']> {
  const { auditStream: url, auditStreamToken: token } = options
  if (url === '' || offline) return () => false
  const { openAuditStream } = await import('../records/audit-stream/audit-stream.ts')
  const { auditReceiver } = await import('../records/audit-stream/audit-receiver.ts')
  // What was written before the first start with a receiver has its place then, and is not sent.
  await auditChain.seal()
  const stream = await openAuditStream({
    ...{ database, clock, receiver: auditReceiver({ url, token, space: space?.guid }) },
    ofSpace: space !== undefined,
    failed: (message) => log.write({ level: 'error', message }),
  })
  opened.add(() => stream.close())
  return stream.isLate
}
