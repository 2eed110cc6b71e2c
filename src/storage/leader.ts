import type { Capabilities } from './capabilities.ts'

/**
 * Whether this node is the one of the cluster that does work which one node should do: of those whose lease runs, the one
 * that started first. Without a lease of its own: a node that stops is followed by the next one within the time of its lease.
 * For some moments two nodes may think so, or none; what must happen once needs a condition in its write.
 */
export async function isLeader({ cluster }: Pick<Capabilities, 'cluster'>): Promise<boolean> {
  if (cluster === undefined) return true
  if (!cluster.alive()) return false
  const live = (await cluster.nodes()).filter((node) => node.live)
  const [first] = live.toSorted((a, b) => a.started - b.started || (a.guid < b.guid ? -1 : 1))
  return first?.self === true
}
