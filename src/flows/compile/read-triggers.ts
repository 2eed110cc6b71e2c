/**
 * Reads what each trigger of a blueprint listens for: its pins are evaluated when the blueprint is deployed, not in a run.
 *
 * This also happens in a graph that has problems, so that all of them are listed at once. But a pin that has its problem
 * already, or whose value comes from a block with one, is left alone: what follows from a broken wire is no news, and may
 * not even be true.
 */
import { type Listening, type Listens, PinError, type TriggerBlock } from '../../blocks/block.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { Problem } from '../../shared/errors.ts'
import type { Graph, Node } from './blueprint-graph.ts'
import { constantPin, type Facts } from './constants/fold-constants.ts'
import { sampler } from './constants/sample-values.ts'
import type { CompiledEndpoint } from './frame.ts'

/** A trigger and what it listens for, by what starts it. */
export type ReadTrigger = {
  readonly [On in Listens]: {
    readonly on: On
    readonly node: Node
    readonly definition: Extract<TriggerBlock, { on: On }>
    readonly listening: Listening[On]
  }
}[Listens]

export interface ReadTriggers {
  /** Those that could be read and are the first to ask for their URI or name. */
  readonly triggers: readonly ReadTrigger[]
  readonly problems: readonly Problem[]
}

/** `known`: the problems of the graph. */
export function* readTriggers(graph: Graph, facts: Facts, known: readonly Problem[]): Steps<ReadTriggers> {
  const doubtful = doubtfulPins(graph, known)
  const triggers: ReadTrigger[] = []
  const problems: Problem[] = []
  const claimed = new Map<string, string>()
  for (const node of graph.nodes) {
    const { definition, block } = node
    if (definition.kind !== 'trigger') continue
    yield
    const read = readInputs(node, definition.evaluatedLater ?? [], facts, doubtful)
    problems.push(...read.problems)
    if (read.problems.length > 0 || doubtful(node)) continue
    try {
      const trigger = listen(node, definition, read.inputs)
      const claims = claimsOf(trigger)
      for (const { key, pin } of claims) {
        const owner = claimed.get(key)
        if (owner) throw new PinError(pin, `is taken by the block ${owner} of this blueprint`)
      }
      for (const { key } of claims) claimed.set(key, block.guid)
      triggers.push(trigger)
    } catch (error) {
      problems.push(triggerProblem(node, error))
    }
  }
  return { triggers, problems }
}

/** What a PinError says of a trigger. Throws anything else: that is a fault of ours. */
export function triggerProblem(node: Node, error: unknown): Problem {
  if (!(error instanceof PinError)) throw error
  return { block: node.block.guid, pin: error.pin, message: `${error.pin} ${error.message}.` }
}

/** Whether a known problem decides what a pin holds; without a pin, whether one is in the way of reading the trigger. */
type Doubtful = (trigger: Node, pin?: string) => boolean

function doubtfulPins(graph: Graph, known: readonly Problem[]): Doubtful {
  const nodes = new Map(graph.nodes.map((node) => [node.block.guid, node]))
  const faulty = new Set(known.map(({ block }) => block))
  // As they were drawn: a wire that does not fit is not among the node's.
  const sources = ({ block }: Node, pin?: string) =>
    block.in_pins
      .filter(({ id }) => pin === undefined || id === pin)
      .flatMap(({ from }) => from ?? [])
      .map((end) => end.block)

  function comesFromFault(trigger: Node, pin?: string): boolean {
    const seen = new Set<string>()
    const queue = sources(trigger, pin)
    for (let guid = queue.pop(); guid !== undefined; guid = queue.pop()) {
      if (seen.has(guid)) continue
      seen.add(guid)
      const node = nodes.get(guid)
      if (!node || faulty.has(guid)) return true
      if (node.definition.kind === 'value') queue.push(...sources(node))
    }
    return false
  }

  return (trigger, pin) => {
    const { guid } = trigger.block
    const own =
      pin === undefined ? faulty.has(guid) : known.some((one) => one.block === guid && one.pin === pin)
    return own || comesFromFault(trigger, pin)
  }
}

/**
 * A trigger's pins may depend on constants only, but for those that are asked for later: of them there is a sample
 * where there is no constant.
 */
function readInputs(
  node: Node,
  later: readonly string[],
  facts: Facts,
  doubtful: Doubtful,
): { readonly inputs: Record<string, unknown>; readonly problems: readonly Problem[] } {
  const sample = sampler(facts)
  const inputs: Record<string, unknown> = {}
  const problems: Problem[] = []
  for (const [id, pin] of node.in) {
    if (doubtful(node, id)) continue
    const isConstant = (node.wires.get(id) ?? []).every((wire) => facts.constants.has(wire.node))
    try {
      if (!isConstant && !later.includes(id))
        throw new PinError(id, 'must not depend on a run: a trigger is read when the blueprint is deployed')
      const value = isConstant ? constantPin(node, id, pin, facts) : sample(node, id, pin)
      if (value !== undefined) inputs[id] = value
    } catch (error) {
      problems.push(triggerProblem(node, error))
    }
  }
  return { inputs, problems }
}

function listen(node: Node, definition: TriggerBlock, inputs: Record<string, unknown>): ReadTrigger {
  const { settings, block } = node
  const custom = block.custom_out_pins
  switch (definition.on) {
    case 'http':
      return { on: 'http', node, definition, listening: definition.listen(inputs, settings, custom) }
    case 'page':
      return { on: 'page', node, definition, listening: definition.listen(inputs, settings, custom) }
    case 'function':
      return { on: 'function', node, definition, listening: definition.listen(inputs, settings, custom) }
    case 'storage':
      return { on: 'storage', node, definition, listening: definition.listen(inputs, settings, custom) }
    case 'schedule':
      return { on: 'schedule', node, definition, listening: definition.listen(inputs, settings, custom) }
    case 'failure':
      return { on: 'failure', node, definition, listening: definition.listen(inputs, settings, custom) }
  }
}

interface Claim {
  readonly key: string
  /** The pin or setting that says it. */
  readonly pin: string
}

/** What only one trigger of a blueprint can have. Throws PinError for a tool without scopes. */
export function claimsOf(trigger: ReadTrigger): readonly Claim[] {
  switch (trigger.on) {
    case 'http': {
      const { listening } = trigger
      return [{ key: routeKey(listening), pin: 'uri' }, ...toolClaim(listening)]
    }
    case 'page':
      return [{ key: pageKey(trigger.listening.uri), pin: 'url' }]
    case 'function': {
      const { listening, node } = trigger
      // An endpoint without scopes is public because it is meant to be. A function was nothing that anyone could call.
      if (listening.tool !== undefined && node.block.scopes.length === 0)
        throw new PinError('tool', 'needs scopes that say who may call it, such as *loggedin')
      return [{ key: `function ${listening.name}`, pin: 'name' }, ...toolClaim(listening)]
    }
    default:
      return []
  }
}

/**
 * What two triggers may not share: the method and the URI with the parameters' names left out, since `tasks/{guid}` and
 * `tasks/{id}` are the same place.
 */
export function routeKey(route: { readonly method: string; readonly uri: string }): string {
  return `${route.method} ${nameless(route.uri)}`
}

/** The same for pages, which have a space of their own: they do not lie under `/api/v1`. */
export function pageKey(uri: string): string {
  return `page ${nameless(uri)}`
}

function nameless(uri: string): string {
  return uri.replace(/\{[^{}.]+\}/g, '{}').replace(/\{[^{}]+\.\.\.\}/g, '{...}')
}

export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const every: readonly EndpointMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that each endpoint answers: one for any method has those that no other endpoint has at its place. */
export function endpointMethods(
  all: readonly Pick<CompiledEndpoint, 'listening'>[],
): (endpoint: Pick<CompiledEndpoint, 'listening'>) => readonly EndpointMethod[] {
  const taken = new Set(all.map(({ listening }) => routeKey(listening)))
  return ({ listening: { method, uri } }) =>
    method === 'ANY' ? every.filter((one) => !taken.has(routeKey({ method: one, uri }))) : [method]
}

function toolClaim({ tool }: { readonly tool?: string }): readonly Claim[] {
  return tool === undefined ? [] : [{ key: `tool ${tool}`, pin: 'tool' }]
}
