import { fileURLToPath } from 'node:url'
import { describeBlock } from '../blocks/describe-block.ts'
import { findBlocks } from '../blocks/load-blocks.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import { approvalDoor } from '../http/approvals/approval-door.ts'
import { endpointDescriptions } from '../http/docs/endpoint-descriptions.ts'
import { customEndpoints } from '../http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../http/endpoints/endpoint-idempotency.ts'
import { type Metrics, openMetrics } from '../http/metrics/metrics.ts'
import { openPageRoom } from '../http/pages/open-page-room.ts'
import { pageDoor } from '../http/pages/page-door.ts'
import { assetFile } from '../http/replies/asset-file.ts'
import { managementRoutes, siteRoutes } from '../http/routes.ts'
import { openServer, type Server } from '../http/server/server.ts'
import type { JsonObject } from '../shared/json.ts'
import { queueDepths } from './background.ts'
import { nodeInfo } from './node-info.ts'
import { openNodeBackups } from './open-backups.ts'
import type { NodeDatabase } from './open-database.ts'
import { openNodeFigures } from './open-figures.ts'
import type { NodeFlows, NodeServices } from './open-flows.ts'
import { openNodeLive } from './open-live.ts'
import type { NodeRecords } from './open-records.ts'
import type { SetStart } from './open-settings.ts'
import { httpSettings } from './quoin-settings.ts'

const STOP_MS = 10_000
const studio = fileURLToPath(new URL('../../dist/studio', import.meta.url))

/** Everything that a request can come in by: management, endpoints, pages, the studio, and what is counted of it. */
export async function openNodeDoors(
  start: SetStart,
  nodeDatabase: NodeDatabase,
  records: NodeRecords,
  running: NodeServices,
): Promise<Server> {
  const { options, clock, version, opened } = start
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
  const rulesOf = rules.of
  const pages = await openPageRoom({ ...records, flows, runs, clock, idempotency, rulesOf, news })
  metrics.countStreams(() => pages.events.size, streams)
  const parts = {
    ...{ ...records, ...running, ...nodeInfo(start, nodeDatabase, flows), capabilities, describe, pages },
    settings: start.set.settings,
    backups: await openNodeBackups(start, flows.log),
    blocks: (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
    scheduler: background.scheduler,
    steering: queueSteering(raw, audit),
    entity: options.entity,
    clock,
    metrics: {
      text: metrics.text,
      token: options.metricsToken,
      environment: options.environment,
    },
    isDamaged,
    studio,
  }
  const server = await openServer({
    ...{ access, clock, version, settings: httpSettings(start.set) },
    api: [
      ...managementRoutes(parts),
      customEndpoints({ flows, runs, idempotency, rulesOf, fileOf, uploads, live }),
    ],
    root: [
      ...siteRoutes(parts),
      approvalDoor(pages, waits),
      pageDoor({ ...pages, waits, siteName: options.siteName }),
    ],
    finished: metrics.finished,
    cluster: capabilities.cluster,
  })
  metrics.countWaiting(server.waitingBytes)
  opened.add(() => closeDoors(start, server, running))
  // Runs at a breakpoint would keep the server waiting.
  opened.add(() => tracing.runs.release())
  return server
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

/** Runs that go on behind their reply have what is left of the time that requests in flight have. */
async function closeDoors({ clock }: SetStart, server: Server, { runs }: NodeFlows): Promise<void> {
  const late = clock() + STOP_MS
  await server.close()
  await runs.settled(Math.max(0, late - clock()))
}
