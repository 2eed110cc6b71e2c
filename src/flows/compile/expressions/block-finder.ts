import type { NameUse } from '../../../expressions/language/expression-names.ts'
import { nearestName } from '../../../shared/names/nearest-name.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import type { Graph, Node, Wire } from '../blueprint-graph.ts'
import { frameNames, runNames } from './run-names.ts'

/** Finds the out-pin that a name in an expression means, or says why there is none. */
export interface BlockFinder {
  /** `refs`: the guid of each name, as it was saved with the expression. It counts more than the name. */
  wireOf(use: NameUse, refs: Readonly<Record<string, string>>): Wire | string
}

export function blockFinder({ nodes }: Graph, names: ReadonlyMap<string, string>): BlockFinder {
  const byName = new Map(nodes.map((node) => [names.get(node.block.guid) ?? '', node]))
  const byGuid = new Map(nodes.map((node) => [node.block.guid, node]))
  return {
    wireOf({ name, inBlocks, path: [pin] }, refs) {
      const ref = Object.hasOwn(refs, name) ? refs[name] : undefined
      const node = (ref === undefined ? undefined : byGuid.get(ref)) ?? byName.get(name)
      if (!node) return unknownBlock(name, inBlocks, [...byName.keys()])
      return pinOf(node, name, pin)
    },
  }
}

function unknownBlock(name: string, inBlocks: boolean, names: readonly string[]): string {
  const near = nearestName(name, inBlocks ? names : [...names, ...runNames, ...frameNames])
  return `There is no block named ${name}.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

function pinOf(node: Node, name: string, pin: string | undefined): Wire | string {
  const values = [...node.out].filter(([, out]) => out.type !== 'flow' || out.carries)
  const choice = values.length === 0 ? 'it gives no value' : `it gives ${values.map(([id]) => id).join(', ')}`
  if (pin === undefined) return `${name} is a block: name one of its values (${choice}).`
  const out = values.find(([id]) => id === pin)?.[1]
  if (!out) {
    const near = nearestName(
      pin,
      values.map(([id]) => id),
    )
    return `The block ${name} gives no ${pin}: ${choice}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  }
  const type = out.type === 'flow' ? (out.carries ?? out.type) : out.type
  if (canConvert(type, 'any')) return { node, pin }
  return `${name}.${pin} is a ${type} and no value: wire it to a pin of that type.`
}
