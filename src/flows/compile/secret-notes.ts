import { didYouMean } from '../../expressions/language/did-you-mean.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import type { Graph } from './blueprint-graph.ts'
import { bounded, type DeployNote } from './notes/deploy-note.ts'

interface NamedSecret {
  readonly block: string
  readonly pin: string
  readonly name: string
}

/** The secrets that blocks name, sorted. */
export function secretsOf(graph: Graph): readonly string[] {
  return [...new Set(namedIn(graph).map(({ name }) => name))].sort()
}

/** A warning for each secret that a block names and that is not set, once. It may be set after the deploy. */
export function secretNotes(graph: Graph, set: readonly string[]): readonly DeployNote[] {
  const missing = new Map(
    namedIn(graph)
      .filter(({ name }) => !set.includes(name))
      .map((one) => [one.name, one]),
  )
  const notes = [...missing.values()].map(({ block, pin, name }): DeployNote => {
    const advice = didYouMean(nearestName(name, set))
    const message = `There is no secret ${name}: the block fails until it is set.${advice}`
    return { block, pin, message, level: 'warn' }
  })
  return bounded(notes, 'secrets that are not set')
}

function namedIn({ nodes }: Graph): NamedSecret[] {
  return nodes.flatMap((node) =>
    [...node.in].flatMap(([pin, { type }]) => {
      const name = type === 'secret' ? node.literals.get(pin) : undefined
      return typeof name === 'string' ? [{ block: node.block.guid, pin, name }] : []
    }),
  )
}
