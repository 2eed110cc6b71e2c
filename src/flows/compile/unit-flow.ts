/**
 * Which flows are units of work (`storage/unit-of-work.ts`): those in which a block that writes follows one that reads. What
 * was read may decide what is written, so it must still hold then. All others pay nothing.
 *
 * A block that touches the world outside commits what was written before it, so what was read before it counts no more; behind
 * it, and behind the reply, a run is no unit (`storage/unit-of-work.ts`). A custom function of another blueprint may do anything, and may change separately. An update that finds nothing to change
 * has only read.
 */
import { effectsOf, storesJob } from '../../blocks/effects.ts'
import type { Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import type { CompiledFlow } from './frame.ts'
import { blocksFrom } from './graph-wiring.ts'
import type { FunctionCall } from './notes/unused-blocks.ts'
import type { ReadTrigger } from './read-triggers.ts'

interface Effect {
  readonly reads: boolean
  readonly writes: boolean
  /** A write follows a read within it. */
  readonly isUnit: boolean
}

const anything: Effect = { reads: true, writes: true, isUnit: true }
/** Ways on which nothing was written. */
const misses: ReadonlySet<string> = new Set(['not_found', 'conflict', 'refused', 'error'])

/** What these blocks and all behind them do. */
export type UnitEffects = (first: readonly Node[]) => Effect

/** `triggers` and `calls`: of the blueprint. */
export function unitEffects(
  triggers: readonly ReadTrigger[],
  calls: readonly FunctionCall[],
  facts: Facts,
): UnitEffects {
  const functions = new Map<string, Node>()
  for (const trigger of triggers)
    if (trigger.on === 'function') functions.set(trigger.listening.name, trigger.node)
  const called = new Map(calls.map(({ node, name }) => [node, name]))
  const known = new Map<string, Effect>()

  function effectOfCall(node: Node): Effect {
    const name = called.get(node)
    const trigger = name === undefined ? undefined : functions.get(name)
    if (name === undefined || trigger === undefined) return anything
    const before = known.get(name)
    if (before) return before
    // For those that call themselves.
    known.set(name, anything)
    const effect = effectOfFlow([trigger])
    known.set(name, effect)
    return effect
  }

  function effectOf(node: Node): Effect {
    const { definition } = node
    if (definition.kind !== 'flow') return { reads: false, writes: false, isUnit: false }
    const effects = effectsOf(definition)
    const enqueues = storesJob(effects)
    if (!enqueues && [...node.in.values()].some(({ type }) => type === 'function')) return effectOfCall(node)
    const reads = effects.reads === true
    const writes = enqueues || effects.writes !== undefined
    return { reads, writes, isUnit: reads && writes }
  }

  function effectOfFlow(roots: readonly Node[]): Effect {
    const effects = new Map(blocksFrom(roots, facts).map((node) => [node, effectOf(node)] as const))
    const all = [...effects.values()]
    const reads = all.some((effect) => effect.reads)
    const writes = all.some((effect) => effect.writes)
    if (!writes) return { reads, writes, isUnit: false }
    const isUnit = all.some((effect) => effect.isUnit) || writesAfterRead(effects, facts)
    return { reads, writes, isUnit }
  }

  return effectOfFlow
}

/** A visitor's event follows on the page's own flow. */
export function unitOf(
  { node }: ReadTrigger,
  events: readonly Node[],
  effects: UnitEffects,
): Pick<CompiledFlow, 'unit' | 'writes'> {
  const own = effects([node])
  if (own.isUnit) return { unit: 'always' }
  const sent = effects(events)
  const writes = own.writes ? 'always' : sent.writes ? 'when_sent' : undefined
  return { writes, unit: sent.isUnit || (own.reads && sent.writes) ? 'when_sent' : undefined }
}

interface Edge {
  readonly from: Node
  readonly pin: string
  readonly to: Node
}

/** Each way from one block to the next. */
function edgesOf(nodes: Iterable<Node>, facts: Facts): readonly Edge[] {
  const edges: Edge[] = []
  for (const from of nodes)
    for (const [pin, out] of from.out)
      if (out.type === 'flow') for (const to of facts.behind(from, pin)) edges.push({ from, pin, to })
  return edges
}

function writesAfterRead(effects: ReadonlyMap<Node, Effect>, facts: Facts): boolean {
  const edges = edgesOf(effects.keys(), facts)
  const into = Map.groupBy(edges, ({ to }) => to)
  /** Blocks that write, or from which a flow leads to one that does, without touching the world outside between. */
  const leading = new Set([...effects].filter(([, { writes }]) => writes).map(([node]) => node))
  for (const node of leading)
    for (const { from } of into.get(node) ?? []) if (!isOutside(from)) leading.add(from)
  const hasRead = ({ from, pin }: Edge) => {
    const effect = effects.get(from)
    return !isOutside(from) && (effect?.reads || (effect?.writes && misses.has(pin)))
  }
  if (edges.some((edge) => hasRead(edge) && leading.has(edge.to))) return true
  // In a loop, what comes first in one pass follows on what came last in the pass before.
  const inLoops = blocksFrom(
    edges.filter(({ from, pin, to }) => isLoop(from, pin) && leading.has(to)).map(({ to }) => to),
    facts,
  )
  return inLoops.some((node) => effects.get(node)?.reads)
}

function isLoop({ definition }: Node, pin: string): boolean {
  return definition.kind === 'flow' && definition.body === pin
}

function isOutside({ definition }: Node): boolean {
  return effectsOf(definition).calls !== undefined
}
