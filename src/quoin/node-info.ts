/** What a node says of itself and of the others, for `/info` and `/_system/nodes`. */
import { hostname } from 'node:os'
import type { Flows } from '../flows/flows.ts'
import type { Info } from '../shared/api/info.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import { eventLoopLoad } from './event-loop-load.ts'
import type { NodeDatabase } from './open-database.ts'
import type { Start } from './start.ts'

export interface NodeInfo {
  /** The nodes of the cluster; where there is one, that one. */
  nodes(): Promise<readonly ClusterNode[]>
  info(): Promise<Omit<Info, 'api'>>
}

export function nodeInfo(
  { options, clock, version }: Start,
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
    flags: { storage: engine },
  })
  return { nodes, info }
}
