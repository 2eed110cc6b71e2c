import { type BlockDefinition, PinError } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { Problem } from '../../shared/errors.ts'
import type { FieldsOf } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isNamedType } from '../../shared/pin-type.ts'
import { type Graph, graphSteps, type Node } from './blueprint-graph.ts'
import { deepValues, placeProblems } from './checks/place-problems.ts'
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
