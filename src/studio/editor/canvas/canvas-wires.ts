import type { Connection, Edge } from '@xyflow/react'
import type { Wire } from '../model/flow.ts'

interface End {
  readonly type: 'source' | 'target'
  readonly nodeId: string
  readonly id?: string | null
}

/** The wire between two handles, whichever of them it was drawn from; undefined between two of the same side. */
export function canvasWire(a: End, b: End): Wire | undefined {
  if (a.type === b.type) return undefined
  const [source, target] = a.type === 'source' ? [a, b] : [b, a]
  return {
    from: { block: source.nodeId, pin: source.id ?? '' },
    to: { block: target.nodeId, pin: target.id ?? '' },
  }
}

export function wireOfConnection(connection: Connection | Edge): Wire {
  return {
    from: { block: connection.source, pin: connection.sourceHandle ?? '' },
    to: { block: connection.target, pin: connection.targetHandle ?? '' },
  }
}
