/** What happens to the cluster, and how long it takes until every node serves again. */
import { setTimeout as wait } from 'node:timers/promises'
import { callNode } from './call-node.ts'
import type { Cut } from './cut-proxy.ts'
import type { ClusterMember, ThreeNodes } from './three-nodes.ts'

export const faultKinds = [
  'kill a node',
  'stop PostgreSQL',
  'kill PostgreSQL',
  'reset the wire of a node',
  'hang the wire of a node',
] as const
export type FaultKind = (typeof faultKinds)[number]

export interface FaultFigures {
  readonly kind: FaultKind
  /** How many nodes it hit. */
  readonly nodes: number
  /** How long it lasted, milliseconds. */
  readonly lasted: number
  /** From its end until each node that was hit answered a request that reads the database: milliseconds, or 'never'. */
  readonly recovered: readonly (number | 'never')[]
  /** Of each node that never answered: what it gave last, and the end of what it has printed. */
  readonly silent: readonly string[]
}

/** Longer than the lease of a node, which is 6 s. */
const CUT_MS = 9_000
const NEVER_MS = 60_000
const LOOK_MS = 25
const PRINTED = 3_000

export async function inflict(kind: FaultKind, cluster: ThreeNodes): Promise<FaultFigures> {
  const { members, postgres } = cluster
  const began = performance.now()
  const hit = await undergo(kind, cluster)
  const lasted = performance.now() - began
  const silent: string[] = []
  const recovered = await Promise.all(hit.map((member) => untilItServes(member, silent)))
  return { kind, nodes: hit.length, lasted: Math.round(lasted), recovered, silent }

  async function undergo(what: FaultKind, { members: all }: ThreeNodes): Promise<readonly ClusterMember[]> {
    switch (what) {
      case 'kill a node': {
        const one = anyOf(members)
        await one.kill()
        await wait(1_000 * Math.random())
        await one.start()
        return [one]
      }
      case 'stop PostgreSQL':
        await postgres.stop()
        await wait(1_000 + 2_000 * Math.random())
        await postgres.start()
        return all
      case 'kill PostgreSQL':
        await postgres.kill()
        await wait(500 * Math.random())
        await postgres.start()
        return all
      case 'reset the wire of a node':
        return [await cutOne('reset')]
      case 'hang the wire of a node':
        return [await cutOne('hang')]
    }
  }

  async function cutOne(how: Cut): Promise<ClusterMember> {
    const one = anyOf(members)
    await one.wire.cut(how)
    await wait(CUT_MS)
    await one.wire.mend()
    return one
  }
}

/** `members` is never empty. */
function anyOf(members: readonly ClusterMember[]): ClusterMember {
  const one = members[Math.floor(Math.random() * members.length)]
  if (!one) throw new RangeError('There is no node.')
  return one
}

async function untilItServes(member: ClusterMember, silent: string[]): Promise<number | 'never'> {
  const began = performance.now()
  let last = ''
  while (performance.now() - began < NEVER_MS) {
    const { status, body } = await callNode(member.address, '/notes', { patience: 10_000 })
    if (status === 200) return Math.round(performance.now() - began)
    last = `${status} ${JSON.stringify(body)}`
    await wait(LOOK_MS)
  }
  silent.push(`${member.name} gave ${last} at last, and had printed:\n${member.output().slice(-PRINTED)}`)
  return 'never'
}
