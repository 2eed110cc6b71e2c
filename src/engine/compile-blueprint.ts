import { type BlockDefinition, PinError, type TriggerBlock } from '../blocks/block.ts'
import { converterFor } from '../blocks/convert-pin.ts'
import type { Block } from '../shared/blueprint.ts'
import type { Problem } from '../shared/errors.ts'
import type { Needs } from '../storage/storage.ts'
import { buildGraph, type Node } from './blueprint-graph.ts'
import { compileFlow } from './compile-flow.ts'
import { deriveNeeds } from './derive-needs.ts'
import { constantPin, type Facts, foldConstants } from './fold-constants.ts'
import type { CompiledEndpoint, CompiledFunction } from './frame.ts'
import { wiringOf } from './graph-wiring.ts'
import { placeProblems } from './place-problems.ts'
import { requestFields } from './request-fields.ts'
import { routeKey } from './route-key.ts'

/** A blueprint that runs: immutable, swapped as a whole. */
export interface CompiledBlueprint {
  readonly guid: string
  readonly endpoints: readonly CompiledEndpoint[]
  readonly functions: ReadonlyMap<string, CompiledFunction>
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
  const endpoints: CompiledEndpoint[] = []
  const functions = new Map<string, CompiledFunction>()
  const claimed = new Map<string, string>()
  for (const node of graph.nodes) {
    if (node.definition.kind !== 'trigger') continue
    try {
      const compiled = compileTrigger(node, node.definition, facts)
      const key =
        compiled.on === 'http' ? routeKey(compiled.endpoint.listening) : `function ${compiled.function.name}`
      const owner = claimed.get(key)
      if (owner)
        throw new PinError(
          compiled.on === 'http' ? 'uri' : 'name',
          `is taken by the block ${owner} of this blueprint`,
        )
      claimed.set(key, node.block.guid)
      if (compiled.on === 'http') endpoints.push(compiled.endpoint)
      else functions.set(compiled.function.name, compiled.function)
    } catch (error) {
      problems.push(triggerProblem(node, error))
    }
  }
  if (problems.length > 0) return { blueprint: undefined, problems }
  return { blueprint: { guid, endpoints, functions, needs: deriveNeeds(graph, facts) }, problems: [] }
}

type CompiledTrigger =
  | { readonly on: 'http'; readonly endpoint: CompiledEndpoint }
  | { readonly on: 'function'; readonly function: CompiledFunction }

function compileTrigger(node: Node, definition: TriggerBlock, facts: Facts): CompiledTrigger {
  const inputs = triggerInputs(node, facts)
  const { block } = node
  const flow = compileFlow(node, facts)
  switch (definition.on) {
    case 'http': {
      const listening = definition.listen(inputs, node.settings, block.custom_out_pins)
      const start: CompiledEndpoint['start'] = (request) => definition.start({ request })
      const fields = requestFields(node, facts)
      return {
        on: 'http',
        endpoint: { block: block.guid, listening, scopes: block.scopes, fields, flow, start },
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
  }
}

/** A trigger's pins are read when the blueprint is deployed, so they may depend on constants only. */
function triggerInputs(node: Node, facts: Facts): Record<string, unknown> {
  const inputs: Record<string, unknown> = {}
  for (const [id, pin] of node.in) {
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
