/**
 * Flows compiled once more with the probe of recorders, from the graph of the first time: each for the first run of it that
 * is recorded, and kept for as long as its blueprint is.
 */
import type { BlockDefinition, Listens } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { atOnce, runCooperatively, type Steps } from '../../shared/cooperative.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFlow, CompiledFunction } from '../compile/frame.ts'
import type { Recorders } from '../compile/probe.ts'
import type { LiveBlueprints } from '../live/live-blueprints.ts'

/** A trigger and the flow behind it. */
export interface FlowOfTrigger {
  readonly flow: CompiledFlow
  readonly type: Listens
  /** For people: `GET tasks/:id`, the name of a function. */
  readonly label: string
}

/** Undefined for a flow that is not behind a trigger of the blueprint, such as the question when a schedule runs next. */
type CopyOf = (compiled: CompiledBlueprint, flow: CompiledFlow) => FlowOfTrigger | undefined

export interface TracedFlows {
  /** Of runs of the copies. */
  readonly recorders: Recorders
  readonly of: CopyOf
  /** Compiles one at a time, in turns beside the requests: undefined until that is done. */
  readonly soon: CopyOf
  /** The function with its flow of `of` or `soon`. `owner`: its blueprint, if that is not active. */
  functionOf(
    called: CompiledFunction,
    copyOf: CopyOf,
    owner?: CompiledBlueprint,
  ): CompiledFunction | undefined
}

export function tracedFlows(live: Pick<LiveBlueprints, 'table'>): TracedFlows {
  const recorders: Recorders = new WeakMap()
  const known = new WeakMap<CompiledBlueprint, Map<CompiledFlow, FlowOfTrigger | undefined>>()
  const owners = new WeakMap<CompiledFunction, CompiledBlueprint>()
  let making: Promise<unknown> = Promise.resolve()

  function copiesOf(compiled: CompiledBlueprint) {
    const copies = known.get(compiled) ?? new Map<CompiledFlow, FlowOfTrigger | undefined>()
    known.set(compiled, copies)
    return copies
  }

  function* copy(compiled: CompiledBlueprint, flow: CompiledFlow): Steps<FlowOfTrigger | undefined> {
    const trigger = triggersOf(compiled).find((one) => one.flow === flow)
    const copied = trigger && { ...trigger, flow: yield* compiled.probed(flow, recorders) }
    copiesOf(compiled).set(flow, copied)
    return copied
  }

  function ownerOf(called: CompiledFunction): CompiledBlueprint | undefined {
    const all = owners.has(called) ? [] : live.table().blueprints.values()
    for (const { compiled } of all)
      if (compiled.functions.get(called.name) === called) owners.set(called, compiled)
    return owners.get(called)
  }

  return {
    recorders,
    of: (compiled, flow) => copiesOf(compiled).get(flow) ?? atOnce(copy(compiled, flow)),
    soon(compiled, flow) {
      const copies = copiesOf(compiled)
      if (!copies.has(flow)) {
        copies.set(flow, undefined)
        // Should it fail, this flow has no copy.
        making = making.then(() => runCooperatively(copy(compiled, flow))).catch(() => undefined)
      }
      return copies.get(flow)
    },
    functionOf(called, copyOf, owner = ownerOf(called)) {
      const copied = owner && copyOf(owner, called.flow)
      return copied && { ...called, flow: copied.flow }
    },
  }
}

export function triggersOf(compiled: CompiledBlueprint): readonly FlowOfTrigger[] {
  return [
    ...compiled.endpoints.map(({ flow, listening: { method, uri } }) => of(flow, 'http', `${method} ${uri}`)),
    ...compiled.pages.map(({ flow, listening: { uri } }) => of(flow, 'page', `/${uri}`)),
    ...[...compiled.functions.values()].map(({ flow, name }) => of(flow, 'function', name)),
    ...compiled.storageEvents.map(({ flow, listening: { storage, events } }) =>
      of(flow, 'storage', `${storage} ${events.join(', ')}`),
    ),
    ...compiled.schedules.map(({ flow, listening: { cron, every } }) =>
      of(flow, 'schedule', cron ?? (every === undefined ? 'as its flow says' : `every ${every}`)),
    ),
    ...compiled.failureEvents.map(({ flow, listening: { events } }) =>
      of(flow, 'failure', events.join(', ')),
    ),
  ]
}

function of(flow: CompiledFlow, type: Listens, label: string): FlowOfTrigger {
  return { flow, type, label }
}

/** The blocks that a breakpoint can be at. */
export function flowBlocks(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): ReadonlySet<string> {
  const flow = blocks.filter(({ type }) => catalogue.get(type)?.kind === 'flow')
  return new Set(flow.map(({ guid }) => guid))
}
