import type { Node, Wire } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import type { RunName } from '../expressions/run-names.ts'

export interface ValuesRead {
  /** Out-pins of other blocks, each once. Constants are none. */
  readonly wires: readonly Wire[]
  /** Names of the run in their expressions. */
  readonly names: ReadonlySet<RunName>
}

/** All that these blocks read, with the value blocks that they pull: one visit of each block. */
export function valuesRead(nodes: readonly Node[], { constants }: Pick<Facts, 'constants'>): ValuesRead {
  const pins = new Map<Node, Set<string>>()
  const names = new Set<RunName>()
  const visited = new Set(nodes)
  for (const node of visited) {
    for (const name of node.expression?.runNames ?? []) names.add(name)
    for (const [id, wires] of node.wires) {
      if (node.in.get(id)?.type === 'flow') continue
      for (const { node: source, pin } of wires) {
        if (constants.has(source)) continue
        pins.set(source, (pins.get(source) ?? new Set()).add(pin))
        if (source.definition.kind === 'value') visited.add(source)
      }
    }
  }
  const wires = [...pins].flatMap(([node, ids]) => [...ids].map((pin) => ({ node, pin })))
  return { wires, names }
}
