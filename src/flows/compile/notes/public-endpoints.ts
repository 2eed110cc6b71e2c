import { effectsOf } from '../../../blocks/effects.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { Node } from '../blueprint-graph.ts'
import type { CompiledEndpoint } from '../frame.ts'
import type { ReadTrigger } from '../read-triggers.ts'
import type { DeployNote } from './deploy-note.ts'
import type { FunctionCall } from './function-calls.ts'

/**
 * Endpoints that name no scope and write documents, themselves or in custom functions of the same blueprint. `*public` is a
 * decision of the builder; no scope at all may be an oversight.
 */
export function* openWrites(
  endpoints: readonly CompiledEndpoint[],
  triggers: readonly ReadTrigger[],
  nodes: readonly Node[],
  calls: readonly FunctionCall[],
): Steps<DeployNote[]> {
  const writers = yield* writersBehind(triggers, nodes, calls)
  return endpoints.flatMap(({ block, listening, scopes }) => {
    const writer = scopes.length === 0 ? writers.get(block) : undefined
    if (!writer) return []
    const { method, uri } = listening
    const message = `${method} ${uri} requires no access, and its flow ${writer.does} documents (${writer.called}): anyone who reaches the server can do so, without an account. Give it a scope such as *loggedin, or *public if that is intended.`
    return [{ block, message, level: 'warn' as const }]
  })
}

interface Writer {
  readonly does: string
  readonly called: string
}

/** A block that writes, for each trigger that leads to one. From the writers backwards, so that each wire is followed once. */
function* writersBehind(
  triggers: readonly ReadTrigger[],
  nodes: readonly Node[],
  calls: readonly FunctionCall[],
): Steps<ReadonlyMap<string, Writer>> {
  const callers = new Map<string, Node[]>()
  for (const { name, node } of calls) {
    const known = callers.get(name)
    if (known) known.push(node)
    else callers.set(name, [node])
  }
  const functions = new Map<Node, string>()
  for (const trigger of triggers)
    if (trigger.on === 'function') functions.set(trigger.node, trigger.listening.name)
  const found = new Map<Node, Writer>()
  for (const node of nodes) {
    const { definition, block } = node
    const { writes } = effectsOf(definition)
    if (writes) found.set(node, { does: writes, called: block.title || definition.title })
  }
  for (const [node, writer] of found) {
    yield
    const name = functions.get(node)
    const before = name === undefined ? flowSources(node) : (callers.get(name) ?? [])
    for (const source of before) if (!found.has(source)) found.set(source, writer)
  }
  return new Map([...found].map(([node, writer]) => [node.block.guid, writer]))
}

/** Where the flow comes from. What a visitor of a page starts begins at no endpoint. */
function flowSources(node: Node): readonly Node[] {
  return [...node.wires].flatMap(([pin, wires]) =>
    node.in.get(pin)?.type === 'flow' ? wires.map((wire) => wire.node) : [],
  )
}

/** Public endpoints that ask for caching although their replies may be for one caller alone. */
export function cachingNotes(endpoints: readonly CompiledEndpoint[]): DeployNote[] {
  return endpoints.flatMap(({ block, listening, scopes, callerIndependent }) => {
    const isPublic = scopes.length === 0 || scopes.includes('*public')
    if (listening.cacheSeconds === 0 || !isPublic || callerIndependent) return []
    const message = `cache_seconds of GET ${listening.uri}: the reply may depend on the caller, so shared caches must not store it (private). Remove blocks that read the user or the headers and custom functions, or set cache_seconds to 0.`
    return [{ block, pin: 'cache_seconds', message, level: 'warn' as const }]
  })
}
