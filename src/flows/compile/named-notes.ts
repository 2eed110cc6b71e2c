import { didYouMean } from '../../expressions/language/call-result.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import type { NamedType } from '../../shared/pin-type.ts'
import type { Graph } from './blueprint-graph.ts'
import { bounded, type DeployNote } from './notes/deploy-note.ts'

interface Named {
  readonly block: string
  readonly pin: string
  readonly name: string
}

const nouns = { secret: 'secret', http_connection: 'connection' } as const

/** The records of a kind that blocks name, sorted. */
export function namesOf(graph: Graph, type: NamedType): readonly string[] {
  return [...new Set(namedIn(graph, type).map(({ name }) => name))].sort()
}

/** A warning for each record that a block names and that is not there, once. It may be set after the deploy. */
export function missingNotes(
  graph: Graph,
  type: NamedType,
  present: readonly string[] | undefined,
): readonly DeployNote[] {
  if (present === undefined) return []
  const missing = new Map<string, Named>()
  for (const one of namedIn(graph, type))
    if (!present.includes(one.name) && !missing.has(one.name)) missing.set(one.name, one)
  const notes = [...missing.values()].map(({ block, pin, name }): DeployNote => {
    const advice = didYouMean(nearestName(name, present))
    const message = `There is no ${nouns[type]} ${name}: the block fails until it is set.${advice}`
    return { block, pin, message, level: 'warn', once: name }
  })
  return bounded(notes, `${nouns[type]}s that are not set`)
}

function namedIn({ nodes }: Graph, wanted: NamedType): Named[] {
  return nodes.flatMap((node) =>
    [...node.in].flatMap(([pin, { type }]) => {
      const name = type === wanted ? node.literals.get(pin) : undefined
      return typeof name === 'string' ? [{ block: node.block.guid, pin, name }] : []
    }),
  )
}
