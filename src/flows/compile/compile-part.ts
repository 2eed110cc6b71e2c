import { type BlockDefinition, PinError } from '../../blocks/block.ts'
import type { InPin } from '../../blocks/pin.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { Problem } from '../../shared/errors.ts'
import type { FieldsOf } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isNamedType } from '../../shared/pin-type.ts'
import { type Graph, graphSteps, type Node } from './blueprint-graph.ts'
import { type CompiledTrigger, compileTrigger } from './compile-trigger.ts'
import { constantPin, type Facts, foldConstants } from './constants/fold-constants.ts'
import { connectExpressions } from './expressions/connect-expressions.ts'
import { documentNotes, environmentNotes } from './expressions/document-notes.ts'
import { runNameProblems } from './expressions/run-name-problems.ts'
import { type TypeFindings, typeProblems } from './expressions/type-problems.ts'
import { blockCounts, wiringOf } from './graph-wiring.ts'
import { missingNotes } from './named-getter.ts'
import { neededIndexes, type RequestedIndexes } from './needed-indexes.ts'
import { behindReferences, unshownInMail } from './notes/chart-columns.ts'
import type { DeployNote } from './notes/deploy-note.ts'
import { deployNotes } from './notes/deploy-notes.ts'
import { type FunctionCall, functionCalls, unsentMails, unsetPublicUrl } from './notes/unused-blocks.ts'
import { type ReadTrigger, readTriggers, triggerProblem } from './read-triggers.ts'
import { unitEffects } from './unit-flow.ts'
import { waitProblems } from './waiting/wait-problems.ts'

/** Flows that share no run with the other flows of their blueprint, ready to run; or the whole blueprint. */
export interface CompiledPart {
  readonly graph: Graph
  readonly facts: Facts
  /** In the order of their blocks. */
  readonly triggers: readonly ReadTrigger[]
  /** The same triggers in the same order. */
  readonly compiled: readonly CompiledTrigger[]
  readonly calls: readonly FunctionCall[]
  readonly types: TypeFindings
}

/** What is the same for all parts of a blueprint. */
export interface OfBlueprint {
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  /** Of each block, by its guid. */
  readonly names: ReadonlyMap<string, string>
  readonly keepsRawBody: boolean
}

export type PartOrProblems =
  | { readonly part: CompiledPart; readonly problems: readonly [] }
  /** `deep`: nothing else was looked at. */
  | { readonly part: undefined; readonly problems: readonly Problem[]; readonly deep: boolean }

/** What may change without a deploy: for warnings, and what is compiled does not depend on it. */
export interface PresentFacts {
  /** Values of the environment. */
  readonly env?: JsonObject
  /** Names of the secrets that are set. */
  readonly secrets?: readonly string[]
  /** Names of connections. */
  readonly connections?: readonly string[]
  /** Fields of the documents of a storage. */
  readonly fieldsOf?: FieldsOf
  /** Whether mails can be sent. */
  readonly mail?: boolean
  /** The address of the site; empty for none. */
  readonly publicUrl?: string
}

/** `blocks`: with the flows of resources in their place. */
export function* compilePart(
  blocks: readonly Block[],
  { catalogue, names, keepsRawBody }: OfBlueprint,
): Steps<PartOrProblems> {
  const graph = yield* connectExpressions(yield* graphSteps(blocks, catalogue), names)
  const deep = yield* deepValues(graph)
  if (deep.length > 0) return { part: undefined, problems: deep, deep: true }
  const problems: Problem[] = [...graph.problems, ...(yield* placeProblems(graph))]
  const wiring = yield* wiringOf(graph)
  problems.push(...(yield* runNameProblems(graph, wiring)), ...(yield* waitProblems(graph, wiring)))
  const types = yield* typeProblems(graph)
  problems.push(...types.problems)
  const constants = yield* foldConstants(graph, wiring)
  const facts: Facts = { ...wiring, constants }
  const read = yield* readTriggers(graph, facts, problems)
  yield
  problems.push(...read.problems, ...(yield* constantProblems(graph, facts, problems)))
  // Flows are compiled only in a sound graph: values in a circle would be followed without end.
  if (problems.length > 0) return { part: undefined, problems, deep: false }
  const counts = blockCounts(catalogue)
  const compiled: CompiledTrigger[] = []
  const calls = yield* functionCalls(graph, facts)
  const ofAll = { effects: unitEffects(read.triggers, calls, facts), keepsRawBody }
  for (const trigger of read.triggers) {
    yield
    try {
      compiled.push(yield* compileTrigger(trigger, facts, counts, ofAll))
    } catch (error) {
      problems.push(triggerProblem(trigger.node, error))
    }
  }
  if (problems.length > 0) return { part: undefined, problems, deep: false }
  return { part: { graph, facts, triggers: read.triggers, compiled, calls, types }, problems: [] }
}

/** What a part says of the present facts. */
export interface PartFindings {
  readonly indexes: readonly RequestedIndexes[]
  /** Warnings by what found them, always in the same order. */
  readonly notes: readonly (readonly DeployNote[])[]
}

export function* findingsOf(part: CompiledPart, present: PresentFacts): Steps<PartFindings> {
  const { graph, facts, triggers, compiled, calls, types } = part
  const { env, secrets, connections, fieldsOf, mail, publicUrl } = present
  const endpoints = compiled.flatMap((one) => (one.on === 'http' ? [one.endpoint] : []))
  const indexes = yield* neededIndexes(graph, facts, fieldsOf)
  const notes = [
    yield* deployNotes(graph, facts, { endpoints, triggers, calls, types: types.types }),
    types.notes,
    env === undefined ? [] : yield* environmentNotes(graph, env),
    missingNotes(graph, 'secret', secrets),
    missingNotes(graph, 'http_connection', connections),
    fieldsOf === undefined ? [] : yield* documentNotes(graph, facts, fieldsOf),
    fieldsOf === undefined ? [] : yield* behindReferences(graph, facts, fieldsOf),
    mail === false ? unsentMails(graph.nodes) : [],
    yield* unshownInMail(graph.nodes),
    publicUrl === '' ? yield* unsetPublicUrl(graph.nodes, facts) : [],
  ]
  return { indexes, notes }
}

/**
 * Problems that blocks find in pins with the same value in every run (`check`). Without this, a page with an impossible
 * table would be deployed, and would reply 500 to every client. `known`: the problems of the graph; blocks that have one
 * are not checked.
 */
function* constantProblems(graph: Graph, facts: Facts, known: readonly Problem[]): Steps<readonly Problem[]> {
  const faulty = new Set(known.map(({ block }) => block))
  const problems: Problem[] = []
  for (const node of graph.nodes) {
    yield
    if (node.definition.check === undefined || faulty.has(node.block.guid)) continue
    try {
      node.definition.check(constantsOf(node, facts), node.settings)
    } catch (error) {
      if (!(error instanceof PinError)) throw error
      problems.push({ block: node.block.guid, pin: error.pin, message: `${error.pin} ${error.message}.` })
    }
  }
  return problems
}

/** The pins that depend on no run. One whose constant does not fit throws PinError, as in a run. */
function constantsOf(node: Node, facts: Facts): Record<string, unknown> {
  const inputs: Record<string, unknown> = {}
  for (const [id, pin] of node.in) {
    const wires = node.wires.get(id) ?? []
    const isFixed = wires.every(
      (wire) => facts.constants.has(wire.node) && !wire.node.out.get(wire.pin)?.event,
    )
    if (pin.type === 'flow' || isNamedType(pin.type) || pin.perFrame || node.added.has(id) || !isFixed)
      continue
    const value = constantPin(node, id, pin, facts)
    if (value !== undefined) inputs[id] = value
  }
  return inputs
}

/** Values that depend on themselves, and frame pins that are read outside their frame. */
export function* placeProblems(graph: Graph): Steps<Problem[]> {
  const problems: Problem[] = []
  const framesOf = new Map<Node, ReadonlySet<Node>>()
  const open = new Set<Node>()

  /** The blocks whose frame pins this block's value depends on. */
  function frames(node: Node): ReadonlySet<Node> {
    const known = framesOf.get(node)
    if (known) return known
    open.add(node)
    const all = new Set<Node>()
    for (const [id, pin] of node.in) {
      if (pin.type === 'flow') continue
      for (const frame of framesOfPin(node, id, pin)) all.add(frame)
    }
    open.delete(node)
    framesOf.set(node, all)
    return all
  }

  function framesOfPin(node: Node, id: string, pin: InPin): Set<Node> {
    const needed = new Set<Node>()
    for (const wire of node.wires.get(id) ?? []) {
      const out = wire.node.out.get(wire.pin)
      // What a visitor does comes from outside: a form may show again what it was sent.
      if (out?.event) continue
      if (out?.frame) {
        needed.add(wire.node)
      } else if (wire.node.definition.kind === 'value') {
        if (open.has(wire.node)) {
          problems.push(cycleProblem(node, id))
          continue
        }
        for (const frame of frames(wire.node)) needed.add(frame)
      }
    }
    if (pin.perFrame) needed.delete(node)
    return needed
  }

  for (const node of graph.nodes) {
    yield
    if (node.definition.kind === 'value') {
      frames(node)
      continue
    }
    for (const [id, pin] of node.in) {
      if (pin.type === 'flow') continue
      const outside = framesOfPin(node, id, pin)
      const [owner] = outside
      if (owner) {
        const message = `The value exists only inside ${owner.block.type}: only blocks that lead to its result pin can read it.`
        problems.push({ block: node.block.guid, pin: id, message })
      }
    }
  }
  return problems
}

function cycleProblem({ block }: Node, pin: string): Problem {
  return { block: block.guid, pin, message: 'The value depends on itself: remove one wire of the cycle.' }
}

/** Blocks and expressions: each is a call within a call when the value is worked out, and 1,400 of them end the stack. */
const MOST_BEHIND = 500

/**
 * A value that is worked out through too many blocks, one behind the other. Before every other check, which follow values by calls.
 * Values that depend on themselves are the affair of another check.
 */
function* deepValues(graph: Graph): Steps<Problem[]> {
  const depths = new Map<Node, number>()
  for (const start of graph.nodes) {
    yield
    const waiting = [start]
    const open = new Set<Node>()
    for (let node = waiting.at(-1); node; node = waiting.at(-1)) {
      const behind = depths.has(node) ? [] : valuesBehind(node)
      const unknown = open.has(node) ? [] : behind.filter((one) => !depths.has(one) && !open.has(one))
      open.add(node)
      if (unknown.length > 0) {
        waiting.push(...unknown)
        continue
      }
      waiting.pop()
      if (depths.has(node)) continue
      const depth = 1 + behind.reduce((most, one) => Math.max(most, depths.get(one) ?? 0), 0)
      if (depth > MOST_BEHIND) return [tooDeep(node)]
      depths.set(node, depth)
    }
  }
  return []
}

function valuesBehind(node: Node): Node[] {
  const found: Node[] = []
  for (const [id, pin] of node.in) {
    if (pin.type === 'flow') continue
    for (const wire of node.wires.get(id) ?? []) {
      const out = wire.node.out.get(wire.pin)
      if (wire.node.definition.kind === 'value' && !out?.event && !out?.frame) found.push(wire.node)
    }
  }
  return found
}

function tooDeep({ block }: Node): Problem {
  return {
    block: block.guid,
    message: `The value is worked out through more than ${MOST_BEHIND} blocks, one behind the other. Put them into one expression, or into a custom function.`,
  }
}
