import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Problem, problemLine, QuoinError } from '../../shared/errors.ts'
import type { FieldsOf } from '../../shared/field-rule.ts'
import { atOnce, inTurns, type Steps } from '../../shared/in-turns.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Needs } from '../../storage/document-index.ts'
import { type BlockCounts, blockCounts } from './block-counts.ts'
import { graphSteps, type Node } from './blueprint-graph.ts'
import { deepValues } from './checks/deep-values.ts'
import { placeProblems } from './checks/place-problems.ts'
import { compileBehind, compileTrigger } from './compile-trigger.ts'
import { constantProblems } from './constants/constant-problems.ts'
import { type Facts, foldConstants } from './constants/fold-constants.ts'
import { expandResources, ofDrawnBlocks } from './expand-resources.ts'
import { connectExpressions } from './expressions/connect-expressions.ts'
import { documentNotes } from './expressions/document-notes.ts'
import { environmentNotes } from './expressions/environment-notes.ts'
import { runNameProblems } from './expressions/run-name-problems.ts'
import { typeProblems } from './expressions/type-problems.ts'
import type {
  CompiledEndpoint,
  CompiledFailureEvent,
  CompiledFlow,
  CompiledFunction,
  CompiledPage,
  CompiledSchedule,
  CompiledStorageEvent,
} from './frame.ts'
import { wiringOf } from './graph-wiring.ts'
import { missingNotes, namesOf } from './named-notes.ts'
import { neededIndexes } from './needed-indexes.ts'
import { behindReferences } from './notes/behind-references.ts'
import { asProblem, type DeployNote } from './notes/deploy-note.ts'
import { deployNotes } from './notes/deploy-notes.ts'
import { type CalledName, calledNames, functionCalls } from './notes/function-calls.ts'
import { unknownSettingNotes } from './notes/unknown-settings.ts'
import { unsentMails } from './notes/unsent-mails.ts'
import { unsetPublicUrl } from './notes/unset-public-url.ts'
import { unshownInMail } from './notes/unshown-in-mail.ts'
import { Probe, type Recorders } from './probe.ts'
import { type ReadTrigger, readTriggers, triggerProblem } from './read-triggers.ts'
import { effectsOf } from './unit-flow.ts'
import { waitProblems } from './waiting/wait-problems.ts'

/** A blueprint that runs: immutable, swapped as a whole. */
export interface CompiledBlueprint {
  readonly guid: string
  /** What it was compiled of. */
  readonly blocks: readonly Block[]
  readonly endpoints: readonly CompiledEndpoint[]
  readonly pages: readonly CompiledPage[]
  readonly functions: ReadonlyMap<string, CompiledFunction>
  readonly storageEvents: readonly CompiledStorageEvent[]
  readonly schedules: readonly CompiledSchedule[]
  readonly failureEvents: readonly CompiledFailureEvent[]
  /** The storages it uses and what its searches need of them. */
  readonly needs: ReadonlyMap<string, Needs>
  /** Storages that its flows use, if one of them waits for documents. */
  readonly awaited: readonly string[]
  /** What its builder is told at a deploy. */
  readonly notes: readonly DeployNote[]
  /** The secrets that its blocks name, sorted. */
  readonly secrets: readonly string[]
  /** The custom functions that it calls by a fixed name. */
  readonly calls: readonly CalledName[]
  /** One of its flows once more, from the same graph and with a probe in it. */
  readonly probed: (flow: CompiledFlow, recorders: Recorders) => Steps<CompiledFlow>
}

export type Compiled =
  | { readonly blueprint: CompiledBlueprint; readonly problems: readonly [] }
  | { readonly blueprint: undefined; readonly problems: readonly Problem[] }

/** Everything that is wrong with the blocks, or the blueprint ready to run. Nothing runs and nothing is stored here. */
export function compileBlueprint(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  present: PresentFacts = {},
): Compiled {
  return atOnce(compileSteps(guid, blocks, catalogue, present))
}

/** The same in several turns: 500 blocks take 33 ms, and requests of others wait meanwhile. */
export function compileInTurns(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  present: PresentFacts = {},
): Promise<Compiled> {
  return inTurns(compileSteps(guid, blocks, catalogue, present))
}

/** Blocks that are to run. VALIDATION_FAILED with every problem when they cannot. `present`: what its notes are about. */
export async function compileToRun(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  present?: PresentFacts,
): Promise<CompiledBlueprint> {
  const { blueprint, problems } = await compileInTurns(guid, blocks, catalogue, present)
  if (!blueprint) throw refusedBlueprint('cannot run', problems, blocks)
  return blueprint
}

/** A log shows nothing but the message. */
const MOST_NAMED = 3

/** VALIDATION_FAILED with every problem. The message has the first ones, with the names of their blocks. */
export function refusedBlueprint(
  how: string,
  problems: readonly Problem[],
  blocks: readonly Block[],
): QuoinError {
  const names = new Map(blocks.map(({ guid, name = guid }) => [guid, name]))
  const named = problems
    .slice(0, MOST_NAMED)
    .map((problem) => problemLine({ ...problem, block: names.get(problem.block) ?? problem.block }))
  const more = problems.length - named.length
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  const message = [`The blueprint ${how}: ${count}.`, ...named, ...(more > 0 ? [`${more} more.`] : [])]
  return new QuoinError('VALIDATION_FAILED', message.join(' '), { problems })
}

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

function* compileSteps(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  { env, secrets, connections, fieldsOf, mail, publicUrl }: PresentFacts,
): Steps<Compiled> {
  const expanded = expandResources(blocks, catalogue)
  yield
  const graph = yield* connectExpressions(yield* graphSteps(expanded, catalogue))
  const deep = yield* deepValues(graph)
  if (deep.length > 0) return refused(deep)
  const problems: Problem[] = [...graph.problems, ...(yield* placeProblems(graph))]
  const settings = yield* unknownSettingNotes(blocks, catalogue)
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
  if (problems.length > 0) return refused([...problems, ...settings.map(asProblem)])
  const counts = blockCounts(catalogue)
  const endpoints: CompiledEndpoint[] = []
  const pages: CompiledPage[] = []
  const functions = new Map<string, CompiledFunction>()
  const storageEvents: CompiledStorageEvent[] = []
  const schedules: CompiledSchedule[] = []
  const failureEvents: CompiledFailureEvent[] = []
  const calls = yield* functionCalls(graph, facts)
  const effects = effectsOf(read.triggers, calls, facts)
  const ofAll = { effects, keepsRawBody: graph.nodes.some(needsRawBody) }
  for (const trigger of read.triggers) {
    yield
    try {
      const compiled = yield* compileTrigger(trigger, facts, counts, ofAll)
      if (compiled.on === 'http') endpoints.push(compiled.endpoint)
      else if (compiled.on === 'page') pages.push(compiled.page)
      else if (compiled.on === 'function') functions.set(compiled.function.name, compiled.function)
      else if (compiled.on === 'storage') storageEvents.push(compiled.storageEvent)
      else if (compiled.on === 'schedule') schedules.push(compiled.schedule)
      else failureEvents.push(compiled.failureEvent)
    } catch (error) {
      problems.push(triggerProblem(trigger.node, error))
    }
  }
  if (problems.length > 0) return refused([...problems, ...settings.map(asProblem)])
  const needs = yield* neededIndexes(graph, facts, fieldsOf)
  const found = yield* deployNotes(graph, facts, {
    endpoints,
    triggers: read.triggers,
    calls,
    types: types.types,
  })
  const environment = env === undefined ? [] : yield* environmentNotes(graph, env)
  const unset = [
    ...missingNotes(graph, 'secret', secrets),
    ...missingNotes(graph, 'http_connection', connections),
  ]
  const mails = [...(mail === false ? unsentMails(graph.nodes) : []), ...(yield* unshownInMail(graph.nodes))]
  const addresses = publicUrl === '' ? yield* unsetPublicUrl(graph.nodes, facts) : []
  const documents =
    fieldsOf === undefined
      ? []
      : [
          ...(yield* documentNotes(graph, facts, fieldsOf)),
          ...(yield* behindReferences(graph, facts, fieldsOf)),
        ]
  const notes = ofDrawnBlocks<DeployNote>(
    [...settings, ...found, ...types.notes, ...environment, ...unset, ...documents, ...mails, ...addresses],
    (drawn, { level }) => ({ ...drawn, level }),
  )
  return {
    blueprint: {
      guid,
      blocks,
      endpoints,
      pages,
      functions,
      storageEvents,
      schedules,
      failureEvents,
      needs,
      awaited: graph.nodes.some(awaitsDocuments) ? [...needs.keys()] : [],
      notes,
      secrets: namesOf(graph, 'secret'),
      calls: calledNames(calls),
      probed: probedFlows(guid, read.triggers, facts, counts),
    },
    problems: [],
  }
}

function refused(problems: readonly Problem[]): Compiled {
  return { blueprint: undefined, problems: ofDrawnBlocks(problems, (drawn) => drawn) }
}

/** A function of its own, so that what it gives holds on to nothing else. */
function probedFlows(
  guid: string,
  triggers: readonly ReadTrigger[],
  facts: Facts,
  counts: BlockCounts,
): CompiledBlueprint['probed'] {
  return function* probed(flow, recorders) {
    const trigger = triggers.find(({ node }) => node.block.guid === flow.trigger)
    if (!trigger) throw new TypeError(`${flow.trigger} is no trigger of the blueprint.`)
    const probe = new Probe(recorders, guid)
    return { ...flow, ...(yield* compileBehind(trigger, { ...facts, probe }, counts)) }
  }
}

function awaitsDocuments({ definition }: Node): boolean {
  return definition.kind === 'flow' && definition.awaitsDocuments === true
}

function needsRawBody({ definition }: Node): boolean {
  return definition.kind === 'flow' && definition.readsRawBody === true
}
