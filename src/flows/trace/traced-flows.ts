/**
 * Blueprints compiled a second time, with a probe: lazily, when the first run of a deployment is traced, and kept for as
 * long as the deployment is. To a flow that answers requests belongs the same flow with the probe in it.
 */
import type { BlockDefinition, Listens } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type CompiledBlueprint, compileBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFlow, CompiledFunction } from '../compile/frame.ts'
import type { Probe } from '../compile/probe.ts'

/** A trigger and the flow behind it. */
export interface FlowOfTrigger {
  readonly flow: CompiledFlow
  readonly type: Listens
  /** For people: `GET tasks/:id`, the name of a function. */
  readonly label: string
}

export interface TracedFlows {
  /** Undefined for a flow that is not a trigger's, such as the question when a schedule runs next. */
  of(compiled: CompiledBlueprint, flow: CompiledFlow): FlowOfTrigger | undefined
  functionOf(compiled: CompiledBlueprint, name: string): CompiledFunction | undefined
}

export function tracedFlows(catalogue: ReadonlyMap<string, BlockDefinition>, probe: Probe): TracedFlows {
  const known = new WeakMap<CompiledBlueprint, CompiledBlueprint>()

  function probed(compiled: CompiledBlueprint): CompiledBlueprint {
    let found = known.get(compiled)
    // It was compiled before, so that it has no problems now.
    found ??= compileBlueprint(compiled.guid, compiled.blocks, catalogue, probe).blueprint ?? compiled
    known.set(compiled, found)
    return found
  }

  return {
    of(compiled, flow) {
      const isOurs = triggersOf(compiled).some((trigger) => trigger.flow === flow)
      return isOurs
        ? triggersOf(probed(compiled)).find((trigger) => trigger.flow.trigger === flow.trigger)
        : undefined
    },
    functionOf: (compiled, name) => probed(compiled).functions.get(name),
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
