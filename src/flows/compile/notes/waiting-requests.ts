import { effectsOf } from '../../../blocks/effects.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import { isSecretName } from '../../../shared/names/secret-names.ts'
import { requestFields } from '../../../shared/request-field.ts'
import type { Node, Wire } from '../blueprint-graph.ts'
import { constantStorage, type Facts } from '../constants/fold-constants.ts'
import { isReply } from '../derive-replies.ts'
import type { CompiledEndpoint } from '../frame.ts'
import { blocksFrom, reachableBlocks } from '../graph-wiring.ts'
import type { ReadTrigger } from '../read-triggers.ts'
import { valuesRead } from '../waiting/values-read.ts'
import { laterBlocks, laterWays } from '../waiting/wait-problems.ts'
import type { DeployNote } from './deploy-note.ts'
import type { FunctionCall } from './unused-blocks.ts'

/** Blocks behind a wait that need the request, which has been answered by then, and approvals that no one could give. */
export function* waitingRequests(nodes: readonly Node[], facts: Facts): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  const replies = atOnce(nodes, facts)
  for (const wait of nodes) {
    if (laterWays(wait).length === 0) continue
    yield
    if (wait.block.type === 'wait_for_approval' && !mayBeDecided(wait, facts)) notes.push(undecidable(wait))
    const later = laterBlocks(wait, facts)
    for (const node of later)
      if (isReply(node) && !replies.has(node)) notes.push(noteOf(node, 'replies', 'Reply before the wait.'))
    const { wires, names } = valuesRead(later, facts)
    if (wires.some(readsRequest))
      notes.push(noteOf(wait, 'reads the request', 'Read what is needed of it before the wait.'))
    if (names.has('headers') || names.has('request'))
      notes.push(
        noteOf(wait, 'reads headers or request', 'They are nothing there. Set a value before the wait.'),
      )
  }
  return notes
}

function mayBeDecided(wait: Node, facts: Pick<Facts, 'wired'>): boolean {
  const scopes = wait.literals.get('scopes')
  const names = wait.wires.has('scopes') || (Array.isArray(scopes) ? scopes.length > 0 : scopes !== undefined)
  const wired = facts.wired(wait)
  return names || wired('link') || wired('link_url')
}

function undecidable({ block }: Node): DeployNote {
  const message =
    'No one could decide: this block fails. Name a scope, such as *loggedin, in scopes, or send its link.'
  return { block: block.guid, pin: 'scopes', message, level: 'warn' }
}

/** The blocks that a request reaches without a wait: a reply among them is of use, though a run that waited passes it too. */
function atOnce(nodes: readonly Node[], facts: Pick<Facts, 'behind'>): ReadonlySet<Node> {
  const found = new Set(
    nodes.flatMap((node) => (node.definition.kind === 'trigger' ? facts.behind(node, 'flow') : [])),
  )
  for (const node of found) {
    const later = laterWays(node)
    for (const [pin, { type }] of node.out)
      if (type === 'flow' && !later.includes(pin)) for (const next of facts.behind(node, pin)) found.add(next)
  }
  return found
}

function readsRequest({ node: { definition, out }, pin }: Wire): boolean {
  return (
    out.get(pin)?.type === 'connection' || (definition.kind === 'value' && definition.fromRequest === true)
  )
}

function noteOf({ block }: Node, does: string, advice: string): DeployNote {
  return {
    block: block.guid,
    message: `A block behind a wait ${does}, and the run has no request there. ${advice}`,
    level: 'warn',
  }
}

/**
 * Endpoints that go on working behind their reply and take a password or token: when such a run fails, its request cannot be sent again,
 * because values of these names are not stored (`background/dead-letter-requests.ts`).
 */
export function lostRequests(nodes: readonly Node[], facts: Facts): DeployNote[] {
  return nodes.flatMap((node): DeployNote[] => {
    const { block, definition, settings } = node
    if (definition.kind !== 'trigger' || definition.on !== 'http') return []
    const secret = requestFields(settings.schema).find(({ name }) => isCredentialName(name))
    if (secret === undefined || !worksBehindReply(node, facts)) return []
    const message = `The flow does work after its reply. When that fails, the request cannot be sent again, because ${secret.name} is not stored. Put the work into a queue before the reply (function_custom_execute_from_queue).`
    return [{ block: block.guid, pin: 'schema', message, level: 'warn' }]
  })
}

/** A signature opens nothing but its own request, and is stored. */
function isCredentialName(name: string): boolean {
  return isSecretName(name) && !/signature/i.test(name)
}

function worksBehindReply(trigger: Node, facts: Facts): boolean {
  return reachableBlocks(trigger, facts)
    .filter(isReply)
    .flatMap((reply) => blocksFrom(behind(reply, facts), facts))
    .some(({ definition }) => definition.kind === 'flow' && !isPure(definition.identifier))
}

function behind(node: Node, facts: Facts): readonly Node[] {
  return [...node.out].flatMap(([pin, { type }]) => (type === 'flow' ? facts.behind(node, pin) : []))
}

/** What fails nothing that a client would have to ask for again. */
function isPure(identifier: string): boolean {
  return identifier === 'function_console_log' || identifier === 'branch' || identifier === 'switch'
}

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

/** Storages of one blueprint that are looked at: each takes a walk through the flows. */
const MOST_STORAGES = 100

/**
 * Blocks that write to a storage which the flow has read before a block that touches the world outside: what was read may have
 * changed meanwhile, because a unit of work ends there (`flows/run/run-units.ts`). A write that decides itself, with `if`, `where` or by a
 * unique field, is none of them.
 */
export function* staleReads(nodes: readonly Node[], facts: Facts): Steps<DeployNote[]> {
  if (!nodes.some(isOutside)) return []
  const touching = Map.groupBy(
    nodes.filter((node) => reads(node) || decidesNothing(node)),
    (node) => constantStorage(node, facts),
  )
  const notes: DeployNote[] = []
  for (const [storage, blocks] of [...touching].slice(0, MOST_STORAGES)) {
    if (storage === undefined) continue
    const before = yield* behindEach(blocks.filter(reads), facts)
    const outside = [...before.keys()].filter(isOutside)
    const readsAgain = (node: Node) => reads(node) && constantStorage(node, facts) === storage
    const after = yield* behindEach(outside, facts, readsAgain)
    for (const [node, call] of after)
      if (decidesNothing(node) && constantStorage(node, facts) === storage)
        notes.push(staleReadNote(node, storage, call))
  }
  return notes
}

/** All blocks behind these, each with the one from which it was reached; the walk does not go on behind those at which it ends. */
function* behindEach(
  first: readonly Node[],
  facts: Facts,
  ends: (node: Node) => boolean = () => false,
): Steps<ReadonlyMap<Node, Node>> {
  const found = new Map<Node, Node>()
  const walk = new Map(first.map((node) => [node, node]))
  for (const [node, start] of walk) {
    yield
    if (found.has(node) && ends(node)) continue
    for (const [pin, out] of node.out) {
      if (out.type !== 'flow') continue
      for (const next of facts.behind(node, pin)) {
        if (!found.has(next)) found.set(next, start)
        if (!walk.has(next)) walk.set(next, start)
      }
    }
  }
  return found
}

function staleReadNote(node: Node, storage: string, outside: Node): DeployNote {
  const way = creates(node)
    ? 'Use function_upsert_document or a unique field'
    : 'Decide with if in this block'
  const call = outside.block.title || outside.definition.title
  return {
    block: node.block.guid,
    message: `The flow reads ${storage} before "${call}" and writes to it here: others may have changed it meanwhile. ${way}, or read again behind "${call}".`,
    level: 'warn',
  }
}

function reads({ definition }: Node): boolean {
  return effectsOf(definition).reads === true
}

/** A block that changes many decides by its `where`; a removal has nothing to decide. */
function decidesNothing(node: Node): boolean {
  const { definition, wires, literals, block } = node
  if (effectsOf(definition).writes === undefined) return false
  if (!node.in.has('if')) return creates(node)
  const decided = block.in_pins.some(({ id, expression }) => id === 'if' && expression !== undefined)
  return !decided && !wires.has('if') && !literals.has('if')
}

function creates({ definition }: Node): boolean {
  return definition.identifier === 'function_create_document_from_mutations'
}

function isOutside({ definition }: Node): boolean {
  return effectsOf(definition).calls !== undefined
}
