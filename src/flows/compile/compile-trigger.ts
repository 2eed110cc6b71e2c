import { actsAsUser } from '../../blocks/as-user.ts'
import type { BlockDefinition } from '../../blocks/block.ts'
import { effectsOf } from '../../blocks/effects.ts'
import type { InPin } from '../../blocks/pin.ts'
import { converterFor } from '../../blocks/pins/convert-pin.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { Node } from './blueprint-graph.ts'
import { requestChecker } from './checks/check-request.ts'
import { compileFlow, compileTriggerPin } from './compile-flow.ts'
import { compilePageFlow, eventBlocks, pageBlocks, pageWrites } from './compile-page-flow.ts'
import type { Facts } from './constants/fold-constants.ts'
import { deriveReplies } from './derive-replies.ts'
import { addressFields } from './expressions/pin-expression.ts'
import type {
  CompiledEndpoint,
  CompiledFailureEvent,
  CompiledFlow,
  CompiledFunction,
  CompiledPage,
  CompiledSchedule,
  CompiledStorageEvent,
  UnhandledOutcome,
} from './frame.ts'
import { type BlockCounts, reachableBlocks, type Wiring } from './graph-wiring.ts'
import type { ReadTrigger } from './read-triggers.ts'
import { type UnitEffects, unitOf } from './unit-flow.ts'

const misses: readonly UnhandledOutcome[] = ['not_found', 'conflict', 'refused', 'exceeded']

/** The ways behind a trigger that are not wired: each may end a request without a reply. */
function* unwiredMisses(trigger: Node, facts: Facts): Steps<readonly UnhandledOutcome[]> {
  const found = new Set<UnhandledOutcome>()
  for (const node of reachableBlocks(trigger, facts)) {
    yield
    const wired = facts.wired(node)
    for (const miss of misses) if (node.out.get(miss)?.type === 'flow' && !wired(miss)) found.add(miss)
  }
  return misses.filter((miss) => found.has(miss))
}

export type CompiledTrigger =
  | { readonly on: 'http'; readonly endpoint: CompiledEndpoint }
  | { readonly on: 'page'; readonly page: CompiledPage }
  | { readonly on: 'function'; readonly function: CompiledFunction }
  | { readonly on: 'storage'; readonly storageEvent: CompiledStorageEvent }
  | { readonly on: 'schedule'; readonly schedule: CompiledSchedule }
  | { readonly on: 'failure'; readonly failureEvent: CompiledFailureEvent }

/** What is the same for all triggers of a blueprint. */
interface OfBlueprint {
  readonly effects: UnitEffects
  readonly keepsRawBody: boolean
}

/** What runs behind a trigger of a sound graph. */
export function compileBehind(
  { node, on }: ReadTrigger,
  facts: Facts,
  counts: BlockCounts,
): Steps<CompiledFlow> {
  return on === 'page' ? compilePageFlow(node, facts, counts) : compileFlow(node, facts, counts)
}

/** A trigger of a sound graph with the flow behind it, ready to run. */
export function* compileTrigger(
  trigger: ReadTrigger,
  facts: Facts,
  counts: BlockCounts,
  { effects, keepsRawBody }: OfBlueprint,
): Steps<CompiledTrigger> {
  const { node } = trigger
  const block = node.block.guid
  const compiled = yield* compileBehind(trigger, facts, counts)
  yield
  const events = trigger.on === 'page' ? eventBlocks(node, facts) : []
  const flow = { ...compiled, ...unitOf(trigger, events, effects) }
  yield
  switch (trigger.on) {
    case 'http':
      return { on: 'http', endpoint: yield* compileEndpoint(trigger, flow, facts, counts, keepsRawBody) }
    case 'page': {
      const { definition, listening } = trigger
      const start: CompiledPage['start'] = (request) => definition.start({ request })
      const { scopes } = node.block
      const writes = pageWrites(pageBlocks(node, facts), facts)
      return { on: 'page', page: { block, listening, scopes, flow, writes, start } }
    }
    case 'function': {
      const { definition, listening } = trigger
      const converters = listening.parameters.map(
        ({ id, type }) => [id, converterFor(id, { type, help: '' }, 'any')] as const,
      )
      // The caller gives JSON; inside the function each parameter has the type of its pin.
      const start: CompiledFunction['start'] = (input) => {
        const parameters: Record<string, unknown> = {}
        for (const [id, convert] of converters)
          parameters[id] = convert(Object.hasOwn(input, id) ? input[id] : undefined)
        return definition.start({ parameters })
      }
      const called = { ...flow, isFunction: true } as const
      const { scopes } = node.block
      return { on: 'function', function: { ...listening, block, scopes, flow: called, start } }
    }
    case 'storage': {
      const { definition, listening } = trigger
      const start: CompiledStorageEvent['start'] = (event) => definition.start(event)
      return { on: 'storage', storageEvent: { block, listening, flow, start } }
    }
    case 'schedule': {
      const { definition, listening } = trigger
      const nextRun = listening.asksNextRun ? compileTriggerPin(node, 'next_run', facts, counts) : undefined
      const start: CompiledSchedule['start'] = (tick) => definition.start(tick)
      return { on: 'schedule', schedule: { block, listening, flow, nextRun, start } }
    }
    case 'failure': {
      const { definition, listening } = trigger
      const start: CompiledFailureEvent['start'] = (failure) => definition.start(failure)
      return { on: 'failure', failureEvent: { block, listening, flow, start } }
    }
  }
}

/** `flow`: what is compiled of it for every kind of trigger. */
function* compileEndpoint(
  trigger: Extract<ReadTrigger, { on: 'http' }>,
  flow: CompiledFlow,
  facts: Facts,
  counts: BlockCounts,
  keepsRawBody: boolean,
): Steps<CompiledEndpoint> {
  const { node, listening } = trigger
  const start = startOf(trigger)
  const { guid: block, scopes } = node.block
  const fields = yield* requestFields(node, facts)
  yield
  const replies = deriveReplies(node, facts)
  yield
  const cacheable = listening.method === 'GET' && (yield* isCacheable(node, facts))
  const callerIndependent = yield* isCallerIndependent(node, facts)
  const behind = reachableBlocks(node, facts)
  const asUser = behind.some(({ settings }) => actsAsUser(settings))
  const subscribes = behind.some(({ definition }) => definition.kind === 'flow' && definition.subscribes)
  const misses = yield* unwiredMisses(node, facts)
  const { schema } = listening
  const typedFields = schema && new Set(schema.flatMap((field) => (field.in === 'body' ? [] : [field.name])))
  const pinFlow = (pin: string): CompiledFlow => ({
    ...compileTriggerPin(node, pin, facts, counts),
    ...(typedFields && { typedFields }),
  })
  const compiled = {
    ...flow,
    cacheable,
    asUser,
    ...(typedFields && { typedFields }),
    ...(listening.oneAtATime && { oneAtATime: pinFlow('one_at_a_time') }),
  }
  const about = {
    block,
    listening,
    scopes,
    keepsRawBody,
    fields,
    replies,
    misses,
    callerIndependent,
    subscribes,
  }
  const key = listening.calculatesKey ? pinFlow('idempotency_key') : undefined
  return { ...about, flow: compiled, key, start }
}

/** What an endpoint's trigger gives; fields that its schema names are checked first. Throws INVALID_BODY. */
function startOf({
  definition,
  listening: { schema },
}: Extract<ReadTrigger, { on: 'http' }>): CompiledEndpoint['start'] {
  if (schema === undefined) return (request) => definition.start({ request })
  const check = requestChecker(schema)
  return (input) => {
    const { request, values } = check(input)
    return { ...values, ...definition.start({ request }) }
  }
}

/**
 * Whether the reply of a trigger's flow depends only on the request's address and on stored data, and the flow does nothing
 * but reply. Not repeatable are flows that write, wait, read the user, the clock or a header, or continue after an error,
 * which may not occur the next time.
 */
function isCacheable(trigger: Node, facts: Facts): Steps<boolean> {
  return followsFrom(trigger, facts, {
    flow: (node) => repeats(node, facts) && !facts.wired(node)('error'),
    value: ({ readsRun, readsAddress }) => !readsRun || readsAddress === true,
  })
}

function repeats(node: Node, facts: Facts): boolean {
  const { cacheable } = effectsOf(node.definition)
  if (cacheable === undefined) return false
  if (cacheable === true) return true
  return cacheable.every((id) => {
    const pin = node.in.get(id)
    return pin !== undefined && !node.wires.has(id) && facts.literal(node, id, pin) === undefined
  })
}

/**
 * Whether a trigger's flow replies the same to every caller: none of its blocks reads the user or a header. Its reply may
 * change with time, with stored data and with replies of other servers. True only if it is certain: a flow that calls a
 * custom function may read the user, because the function's blueprint can change separately.
 */
function isCallerIndependent(trigger: Node, facts: Facts): Steps<boolean> {
  return followsFrom(trigger, facts, {
    flow: ({ definition }) => {
      const { cacheable, callerIndependent } = effectsOf(definition)
      return cacheable !== undefined || callerIndependent === true
    },
    value: ({ readsRun, readsAddress, readsClock }) =>
      !readsRun || readsAddress === true || readsClock === true,
  })
}

/** Which blocks may be in a flow, and which values may reach it. */
export interface Allowed {
  flow(node: Node): boolean
  /** What it depends on is looked at by itself. */
  value(definition: BlockDefinition & { readonly kind: 'value' }): boolean
}

/**
 * Whether every block behind a trigger is allowed, and every value that one of them depends on. The request itself, which
 * holds more than its address, may only go where no more than the address is read.
 */
function* followsFrom(trigger: Node, facts: Facts, allowed: Allowed): Steps<boolean> {
  const known = new Map<Node, boolean>()
  for (const node of reachableBlocks(trigger, facts)) {
    yield
    if (!allowed.flow(node)) return false
    if (![...node.in].every(([id, pin]) => pin.type === 'flow' || isAllowedPin(node, id, pin))) return false
  }
  return true

  function isAllowedPin(node: Node, id: string, pin: InPin): boolean {
    return (node.wires.get(id) ?? []).every(({ node: source, pin: from }) => {
      const { definition } = source
      if (definition.kind === 'trigger')
        return (
          source.out.get(from)?.ofAddress === true ||
          (pin.type === 'connection' && readsNoMore(node.definition))
        )
      return definition.kind === 'flow' ? source.out.get(from)?.type !== 'connection' : isAllowed(source)
    })
  }

  function isAllowed(node: Node): boolean {
    const decided = known.get(node)
    if (decided !== undefined) return decided
    // A block that stands on itself, by its frame pins, is no reason against itself.
    known.set(node, true)
    const { definition } = node
    const itself = definition.kind === 'value' && allowed.value(definition)
    const answer = itself && [...node.in].every(([id, pin]) => isAllowedPin(node, id, pin))
    known.set(node, answer)
    return answer
  }
}

function readsNoMore(definition: BlockDefinition): boolean {
  return definition.kind === 'value' ? definition.readsAddress === true : definition.kind === 'flow'
}

/** The names of request parameters that the blocks behind a trigger ask for: what the API documentation can promise. */
function* requestFields(trigger: Node, wiring: Wiring): Steps<readonly string[]> {
  const fields = new Set<string>()
  const seen = new Set<Node>([trigger])
  const queue = [trigger]
  const visit = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    queue.push(node)
  }
  for (let node = queue.pop(); node; node = queue.pop()) {
    yield
    if (node.expression) for (const field of addressFields(node.expression)) fields.add(field)
    const field = node.literals.get('field')
    if (node.definition.kind === 'value' && node.definition.fromRequest && typeof field === 'string')
      fields.add(field)
    for (const [pin, out] of node.out) if (out.type === 'flow') wiring.behind(node, pin).forEach(visit)
    for (const [pin, wires] of node.wires) {
      if (node.in.get(pin)?.type === 'flow') continue
      for (const wire of wires) if (wire.node.definition.kind === 'value') visit(wire.node)
    }
  }
  return [...fields].sort()
}
