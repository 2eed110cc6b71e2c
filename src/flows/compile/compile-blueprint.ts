import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { atOnce, runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { type Problem, problemLine, QuoinError } from '../../shared/errors.ts'
import { sameJson } from '../../shared/json.ts'
import { blockNames } from '../../shared/names/block-name.ts'
import type { Needs } from '../../storage/document-index.ts'
import type { Node } from './blueprint-graph.ts'
import type { OfBlueprint, PresentFacts } from './compile-part.ts'
import { type CompiledTrigger, compileBehind } from './compile-trigger.ts'
import { expandResources, ofDrawnBlocks } from './expand-resources.ts'
import type {
  CompiledEndpoint,
  CompiledFailureEvent,
  CompiledFlow,
  CompiledFunction,
  CompiledPage,
  CompiledSchedule,
  CompiledStorageEvent,
} from './frame.ts'
import { blockCounts } from './graph-wiring.ts'
import { namesOf } from './named-getter.ts'
import { needsOf } from './needed-indexes.ts'
import { asProblem, type DeployNote, notesTogether } from './notes/deploy-note.ts'
import { type CalledName, calledNames, unknownSettingNotes } from './notes/unused-blocks.ts'
import { type BlueprintPart, compileAsOne, compileParts } from './part-blocks.ts'
import { Probe, type Recorders } from './probe.ts'

export type { PresentFacts } from './compile-part.ts'

type Catalogue = ReadonlyMap<string, BlockDefinition>

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
  /** What the next deploy can take over. */
  readonly parts: readonly BlueprintPart[]
}

export type Compiled =
  | { readonly blueprint: CompiledBlueprint; readonly problems: readonly [] }
  | { readonly blueprint: undefined; readonly problems: readonly Problem[] }

/** Everything that is wrong with the blocks, or the blueprint ready to run. Nothing runs and nothing is stored here. */
export function compileBlueprint(
  guid: string,
  blocks: readonly Block[],
  catalogue: Catalogue,
  present?: PresentFacts,
  former?: CompiledBlueprint,
): Compiled {
  return atOnce(compileSteps(guid, blocks, catalogue, { present, former }))
}

/** The same without parts: what a blueprint of parts must be equal to. */
export function compileWhole(
  guid: string,
  blocks: readonly Block[],
  catalogue: Catalogue,
  present?: PresentFacts,
): Compiled {
  return atOnce(compileSteps(guid, blocks, catalogue, { present, whole: true }))
}

/** As `compileBlueprint` in several turns: 500 blocks take 33 ms, and requests of others wait meanwhile. */
export function compileCooperatively(
  guid: string,
  blocks: readonly Block[],
  catalogue: Catalogue,
  present?: PresentFacts,
  former?: CompiledBlueprint,
): Promise<Compiled> {
  return runCooperatively(compileSteps(guid, blocks, catalogue, { present, former }))
}

/**
 * Blocks that are to run. VALIDATION_FAILED with every problem when they cannot. `present`: what its notes are about. `former`: the
 * same blueprint as it is served now, whose flows are taken over where they are the same.
 */
export async function compileToRun(
  guid: string,
  blocks: readonly Block[],
  catalogue: Catalogue,
  present?: PresentFacts,
  former?: CompiledBlueprint,
): Promise<CompiledBlueprint> {
  const { blueprint, problems } = await compileCooperatively(guid, blocks, catalogue, present, former)
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

interface CompileOptions {
  readonly present?: PresentFacts | undefined
  readonly former?: CompiledBlueprint | undefined
  readonly whole?: boolean
}

function* compileSteps(
  guid: string,
  drawn: readonly Block[],
  catalogue: Catalogue,
  { present = {}, former, whole = false }: CompileOptions,
): Steps<Compiled> {
  const blocks = former ? yield* takenOver(drawn, former.blocks) : drawn
  const expanded = expandResources(blocks, catalogue)
  yield
  const names = blockNames(expanded.filter(({ type }) => catalogue.has(type)))
  const keepsRawBody = expanded.some(({ type }) => needsRawBody(catalogue.get(type)))
  const ofAll: OfBlueprint = { catalogue, names, keepsRawBody }
  const settings = yield* unknownSettingNotes(blocks, catalogue)
  const apart = whole ? undefined : yield* compileParts(expanded, ofAll, former?.parts ?? [], present)
  const order = new Map(expanded.map((block, at) => [block.guid, at]))
  const notes =
    apart &&
    notesTogether(
      apart.map(({ said }) => said.findings.notes),
      order,
    )
  const made = { guid, blocks, catalogue, order, settings }
  if (apart && notes) return assembled(made, apart, notes)
  // Every problem, in one order; or more warnings of one kind than are listed.
  const { part, problems, deep } = yield* compileAsOne(expanded, ofAll, present)
  if (!part) return refused(deep ? problems : [...problems, ...settings.map(asProblem)])
  return assembled(made, apart ?? [part], part.said.findings.notes.flat())
}

/** The blocks, those that are the same as before as the former objects: what is known of them is known still. */
function* takenOver(blocks: readonly Block[], former: readonly Block[]): Steps<readonly Block[]> {
  const before = new Map(former.map((block) => [block.guid, block]))
  const taken: Block[] = []
  for (const block of blocks) {
    yield
    const known = before.get(block.guid)
    taken.push(known && sameJson(known, block) ? known : block)
  }
  return taken
}

interface Made {
  readonly guid: string
  readonly blocks: readonly Block[]
  readonly catalogue: Catalogue
  /** Of the blocks that run. */
  readonly order: ReadonlyMap<string, number>
  readonly settings: readonly DeployNote[]
}

function assembled(
  { guid, blocks, catalogue, order, settings }: Made,
  parts: readonly BlueprintPart[],
  found: readonly DeployNote[],
): Compiled {
  const inOrder = <T>(all: readonly T[], blockOf: (one: T) => string) =>
    all.toSorted((a, b) => (order.get(blockOf(a)) ?? 0) - (order.get(blockOf(b)) ?? 0))
  const graphs = parts.map(({ compiled }) => compiled.graph)
  const requested = parts.flatMap(({ said }) => said.findings.indexes)
  const needs = needsOf(inOrder(requested, ({ block }) => block))
  const calls = parts.flatMap(({ compiled }) => compiled.calls)
  const triggers = parts.flatMap(({ compiled }) => compiled.compiled)
  return {
    blueprint: {
      guid,
      blocks,
      ...byKind(inOrder(triggers, blockOfTrigger)),
      needs,
      awaited: graphs.some(({ nodes }) => nodes.some(awaitsDocuments)) ? [...needs.keys()] : [],
      notes: ofDrawnBlocks<DeployNote>(
        [...settings, ...found].map(({ once: _once, ...note }) => note),
        (drawn, { level }) => ({ ...drawn, level }),
      ),
      secrets: [...new Set(graphs.flatMap((graph) => namesOf(graph, 'secret')))].sort(),
      calls: calledNames(inOrder(calls, ({ node }) => node.block.guid)),
      probed: probedFlows(guid, parts, catalogue),
      parts,
    },
    problems: [],
  }
}

type Triggers = Pick<
  CompiledBlueprint,
  'endpoints' | 'pages' | 'functions' | 'storageEvents' | 'schedules' | 'failureEvents'
>

function byKind(compiled: readonly CompiledTrigger[]): Triggers {
  const endpoints: CompiledEndpoint[] = []
  const pages: CompiledPage[] = []
  const functions = new Map<string, CompiledFunction>()
  const storageEvents: CompiledStorageEvent[] = []
  const schedules: CompiledSchedule[] = []
  const failureEvents: CompiledFailureEvent[] = []
  for (const one of compiled) {
    if (one.on === 'http') endpoints.push(one.endpoint)
    else if (one.on === 'page') pages.push(one.page)
    else if (one.on === 'function') functions.set(one.function.name, one.function)
    else if (one.on === 'storage') storageEvents.push(one.storageEvent)
    else if (one.on === 'schedule') schedules.push(one.schedule)
    else failureEvents.push(one.failureEvent)
  }
  return { endpoints, pages, functions, storageEvents, schedules, failureEvents }
}

function blockOfTrigger(one: CompiledTrigger): string {
  switch (one.on) {
    case 'http':
      return one.endpoint.block
    case 'page':
      return one.page.block
    case 'function':
      return one.function.block
    case 'storage':
      return one.storageEvent.block
    case 'schedule':
      return one.schedule.block
    case 'failure':
      return one.failureEvent.block
  }
}

function refused(problems: readonly Problem[]): Compiled {
  return { blueprint: undefined, problems: ofDrawnBlocks(problems, (drawn) => drawn) }
}

/** A function of its own, so that what it gives holds on to nothing else. */
function probedFlows(
  guid: string,
  parts: readonly BlueprintPart[],
  catalogue: Catalogue,
): CompiledBlueprint['probed'] {
  const counts = blockCounts(catalogue)
  return function* probed(flow, recorders) {
    for (const { compiled } of parts) {
      const trigger = compiled.triggers.find(({ node }) => node.block.guid === flow.trigger)
      if (!trigger) continue
      const probe = new Probe(recorders, guid)
      return { ...flow, ...(yield* compileBehind(trigger, { ...compiled.facts, probe }, counts)) }
    }
    throw new TypeError(`${flow.trigger} is no trigger of the blueprint.`)
  }
}

function awaitsDocuments({ definition }: Node): boolean {
  return definition.kind === 'flow' && definition.awaitsDocuments === true
}

function needsRawBody(definition: BlockDefinition | undefined): boolean {
  return definition?.kind === 'flow' && definition.readsRawBody === true
}
