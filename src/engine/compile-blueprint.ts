import { type BlockDefinition, PinError, type TriggerBlock } from '../blocks/block.ts'
import { converterFor } from '../blocks/convert-pin.ts'
import type { Block } from '../shared/blueprint.ts'
import type { Problem } from '../shared/errors.ts'
import type { Needs } from '../storage/storage.ts'
import { type BlockCounts, blockCounts } from './block-counts.ts'
import { buildGraph, type Node } from './blueprint-graph.ts'
import { compileDatePin, compileFlow } from './compile-flow.ts'
import { deriveNeeds } from './derive-needs.ts'
import { deriveReplies } from './derive-replies.ts'
import { constantPin, type Facts, foldConstants } from './fold-constants.ts'
import type { CompiledEndpoint, CompiledFunction, CompiledSchedule, CompiledStorageEvent } from './frame.ts'
import { wiringOf } from './graph-wiring.ts'
import { placeProblems } from './place-problems.ts'
import { requestFields } from './request-fields.ts'
import { routeKey } from './route-key.ts'
import { sampler } from './sample-values.ts'

/** A blueprint that runs: immutable, swapped as a whole. */
export interface CompiledBlueprint {
  readonly guid: string
  readonly endpoints: readonly CompiledEndpoint[]
  readonly functions: ReadonlyMap<string, CompiledFunction>
  readonly storageEvents: readonly CompiledStorageEvent[]
  readonly schedules: readonly CompiledSchedule[]
  /** The storages it uses and what its searches need of them. */
  readonly needs: ReadonlyMap<string, Needs>
}

export type Compiled =
  | { readonly blueprint: CompiledBlueprint; readonly problems: readonly [] }
  | { readonly blueprint: undefined; readonly problems: readonly Problem[] }

/** Everything that is wrong with the blocks, or the blueprint ready to run. Nothing runs and nothing is stored here. */
export function compileBlueprint(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Compiled {
  const graph = buildGraph(blocks, catalogue)
  const problems = [...graph.problems, ...placeProblems(graph)]
  // Triggers are asked only in a sound graph: what follows from a broken wire would be listed twice.
  if (problems.length > 0) return { blueprint: undefined, problems }
  const wiring = wiringOf(graph)
  const facts: Facts = { ...wiring, constants: foldConstants(graph, wiring) }
  const counts = blockCounts(catalogue)
  const endpoints: CompiledEndpoint[] = []
  const functions = new Map<string, CompiledFunction>()
  const storageEvents: CompiledStorageEvent[] = []
  const schedules: CompiledSchedule[] = []
  const claimed = new Map<string, string>()
  for (const node of graph.nodes) {
    if (node.definition.kind !== 'trigger') continue
    try {
      const compiled = compileTrigger(node, node.definition, facts, counts)
      const claim = claimOf(compiled)
      const owner = claim && claimed.get(claim.key)
      if (owner) throw new PinError(claim.pin, `is taken by the block ${owner} of this blueprint`)
      if (claim) claimed.set(claim.key, node.block.guid)
      if (compiled.on === 'http') endpoints.push(compiled.endpoint)
      else if (compiled.on === 'function') functions.set(compiled.function.name, compiled.function)
      else if (compiled.on === 'storage') storageEvents.push(compiled.storageEvent)
      else schedules.push(compiled.schedule)
    } catch (error) {
      problems.push(triggerProblem(node, error))
    }
  }
  if (problems.length > 0) return { blueprint: undefined, problems }
  const needs = deriveNeeds(graph, facts)
  return { blueprint: { guid, endpoints, functions, storageEvents, schedules, needs }, problems: [] }
}

type CompiledTrigger =
  | { readonly on: 'http'; readonly endpoint: CompiledEndpoint }
  | { readonly on: 'function'; readonly function: CompiledFunction }
  | { readonly on: 'storage'; readonly storageEvent: CompiledStorageEvent }
  | { readonly on: 'schedule'; readonly schedule: CompiledSchedule }

/** What only one trigger can have, and the pin or setting that says it. */
function claimOf(compiled: CompiledTrigger): { readonly key: string; readonly pin: string } | undefined {
  switch (compiled.on) {
    case 'http':
      return { key: routeKey(compiled.endpoint.listening), pin: 'uri' }
    case 'function':
      return { key: `function ${compiled.function.name}`, pin: 'name' }
    default:
      return undefined
  }
}

function compileTrigger(
  node: Node,
  definition: TriggerBlock,
  facts: Facts,
  counts: BlockCounts,
): CompiledTrigger {
  const inputs = triggerInputs(node, definition.evaluatedLater ?? [], facts)
  const { block } = node
  const flow = compileFlow(node, facts, counts)
  switch (definition.on) {
    case 'http': {
      const listening = definition.listen(inputs, node.settings, block.custom_out_pins)
      const start: CompiledEndpoint['start'] = (request) => definition.start({ request })
      const fields = requestFields(node, facts)
      const replies = deriveReplies(node, facts)
      return {
        on: 'http',
        endpoint: { block: block.guid, listening, scopes: block.scopes, fields, replies, flow, start },
      }
    }
    case 'function': {
      const { name, parameters: declared } = definition.listen(inputs, node.settings, block.custom_out_pins)
      const converters = declared.map(
        ({ id, type }) => [id, converterFor(id, { type, help: '' }, 'any')] as const,
      )
      // Whoever calls gives JSON; inside, each parameter is what its pin says.
      const start: CompiledFunction['start'] = (given) => {
        const parameters: Record<string, unknown> = {}
        for (const [id, convert] of converters) parameters[id] = convert(given[id])
        return definition.start({ parameters })
      }
      return { on: 'function', function: { block: block.guid, name, flow, start } }
    }
    case 'storage': {
      const listening = definition.listen(inputs, node.settings, block.custom_out_pins)
      const start: CompiledStorageEvent['start'] = (event) => definition.start(event)
      return { on: 'storage', storageEvent: { block: block.guid, listening, flow, start } }
    }
    case 'schedule': {
      const listening = definition.listen(inputs, node.settings, block.custom_out_pins)
      const nextRun = listening.asksNextRun ? compileDatePin(node, 'next_run', facts, counts) : undefined
      const start: CompiledSchedule['start'] = (tick) => definition.start(tick)
      return { on: 'schedule', schedule: { block: block.guid, listening, flow, nextRun, start } }
    }
  }
}

/**
 * A trigger's pins are read when the blueprint is deployed, so they may depend on constants only, but for those that the
 * engine asks for later: of them there is a sample where there is no constant.
 */
function triggerInputs(node: Node, later: readonly string[], facts: Facts): Record<string, unknown> {
  const sample = sampler(facts)
  const inputs: Record<string, unknown> = {}
  for (const [id, pin] of node.in) {
    const isConstant = (node.wires.get(id) ?? []).every((wire) => facts.constants.has(wire.node))
    if (later.includes(id) && !isConstant) {
      inputs[id] = sample(node, id, pin)
      continue
    }
    for (const wire of node.wires.get(id) ?? []) {
      if (!facts.constants.has(wire.node)) {
        throw new PinError(id, 'must not depend on a run: a trigger is read when the blueprint is deployed')
      }
    }
    const value = constantPin(node, id, pin, facts)
    if (value !== undefined) inputs[id] = value
  }
  return inputs
}

function triggerProblem(node: Node, error: unknown): Problem {
  if (error instanceof PinError) {
    return { block: node.block.guid, pin: error.pin, message: `${error.pin} ${error.message}.` }
  }
  throw error
}
