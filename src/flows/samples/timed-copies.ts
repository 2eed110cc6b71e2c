/**
 * Deployed blueprints compiled a second time, with the probe of times. A copy is made when a run of the blueprint is sampled
 * for the first time: one at a time, in turns beside the requests, and until it is there no run is sampled.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import { type CompiledBlueprint, compileInTurns } from '../compile/compile-blueprint.ts'
import type { CompiledFlow, CompiledFunction } from '../compile/frame.ts'
import type { LiveBlueprints } from '../live/live-blueprints.ts'
import type { Deployed } from './sample.ts'
import type { TimingProbes } from './timing-probe.ts'

export interface TimedFlow extends Deployed {
  readonly flow: CompiledFlow
}

export interface TimedCopies {
  /** Undefined for what is no trigger of the blueprint as it is deployed, and while its copy is being made. */
  of(blueprint: string, flow: CompiledFlow): TimedFlow | undefined
  /** The copy of a function, where there is one. */
  functionOf(called: CompiledFunction): CompiledFunction
}

interface Deploy {
  readonly compiled: CompiledBlueprint
  readonly deployment: number
}

export function timedCopies(
  live: Pick<LiveBlueprints, 'table'>,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  probes: Pick<TimingProbes, 'of'>,
): TimedCopies {
  const flows = new WeakMap<CompiledBlueprint, ReadonlyMap<CompiledFlow, CompiledFlow> | 'begun'>()
  const functions = new WeakMap<CompiledFunction, CompiledFunction>()
  /** Functions whose blueprint has, or gets, its copy. */
  const asked = new WeakSet<CompiledFunction>()
  let making: Promise<unknown> = Promise.resolve()

  async function make(compiled: CompiledBlueprint, deployment: number): Promise<void> {
    const { guid: blueprint, blocks } = compiled
    const probe = probes.of({ blueprint, deployment })
    const copy = (await compileInTurns(blueprint, blocks, catalogue, { probe })).blueprint
    if (!copy) return
    const triggers = new Map(triggerFlows(copy).map((flow) => [flow.trigger, flow]))
    const pairs = triggerFlows(compiled).flatMap((flow): [CompiledFlow, CompiledFlow][] => {
      const timed = triggers.get(flow.trigger)
      return timed ? [[flow, timed]] : []
    })
    for (const [name, one] of copy.functions) {
      const original = compiled.functions.get(name)
      if (original) functions.set(original, one)
    }
    flows.set(compiled, new Map(pairs))
  }

  /** Undefined until it is made. */
  function copyOf({ compiled, deployment }: Deploy): ReadonlyMap<CompiledFlow, CompiledFlow> | undefined {
    const known = flows.get(compiled)
    if (known !== undefined) return known === 'begun' ? undefined : known
    flows.set(compiled, 'begun')
    // Should it fail, this version is not sampled.
    making = making.then(() => make(compiled, deployment)).catch(() => undefined)
    return undefined
  }

  return {
    of(blueprint, flow) {
      const found = live.table().blueprints.get(blueprint)
      const timed = found && copyOf(found)?.get(flow)
      return timed && { blueprint, deployment: found.deployment, flow: timed }
    },
    functionOf(called) {
      const timed = functions.get(called)
      if (timed || asked.has(called)) return timed ?? called
      asked.add(called)
      const owners = [...live.table().blueprints.values()]
      const owner = owners.find(({ compiled }) => compiled.functions.get(called.name) === called)
      if (owner) copyOf(owner)
      return called
    },
  }
}

function triggerFlows(compiled: CompiledBlueprint): CompiledFlow[] {
  const { endpoints, pages, functions, storageEvents, schedules, failureEvents } = compiled
  const triggers = [endpoints, pages, [...functions.values()], storageEvents, schedules, failureEvents]
  return triggers.flatMap((all) => all.map(({ flow }) => flow))
}
