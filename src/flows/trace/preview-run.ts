/**
 * One visit of a page of staged blocks, for its builder. It reads what is stored and leaves nothing. Blocks with effects
 * outside of the database fail, in functions of other blueprints too.
 */

import type { BlockDefinition } from '../../blocks/block.ts'
import { effectsOf } from '../../blocks/effects.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { Block, SavedInPin } from '../../shared/blueprint.ts'
import { type Problem, QuoinError } from '../../shared/errors.ts'
import type { PageContent } from '../../shared/pages/page-content.ts'
import { candidateBlocks } from '../blueprints/staged-content.ts'
import { type CompiledBlueprint, compileToRun } from '../compile/compile-blueprint.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { CompiledPage } from '../compile/frame.ts'
import type { Recorder } from '../compile/probe.ts'
import type { Flows } from '../flows.ts'
import { refuseLackedScopes } from '../live/check-candidate.ts'
import { Run } from '../run/run.ts'
import type { RunEnvironment, RunLogEntry } from '../run/run-environment.ts'
import { discardingEnvironment } from './discarding-environment.ts'
import { type Caller, lookingVisit } from './recorded-request.ts'
import { tracedFlows } from './traced-flows.ts'

// Blocks that cannot run are left out of a preview, so that one unfinished part does not empty the page.

/** What leads through a block: content of a page, and the flow. */
const THROUGH = ['state', 'flow'] as const

type End = NonNullable<SavedInPin['from']>[number]

/** The blocks without these. What takes content or the flow from one takes what led into it; other wires end. */
function withoutBlocks(blocks: readonly Block[], left: ReadonlySet<string>): readonly Block[] {
  const byGuid = new Map(blocks.map((block) => [block.guid, block]))
  const sourcesOf = (end: End, seen: ReadonlySet<string>): readonly End[] => {
    if (!left.has(end.block)) return [end]
    const through = THROUGH.find((pin) => pin === end.pin)
    if (through === undefined || seen.has(end.block)) return []
    const before = byGuid.get(end.block)?.in_pins.find(({ id }) => id === through)?.from ?? []
    return before.flatMap((one) => sourcesOf(one, new Set([...seen, end.block])))
  }
  return blocks.flatMap((block) => {
    if (left.has(block.guid)) return []
    if (!block.in_pins.some(({ from }) => from?.some((end) => left.has(end.block)))) return [block]
    const pins = block.in_pins.flatMap((pin) => {
      if (!pin.from) return [pin]
      const from = pin.from.flatMap((end) => sourcesOf(end, new Set()))
      return from.length === 0 ? [] : [{ ...pin, from }]
    })
    return [{ ...block, in_pins: pins }]
  })
}

/** Whether the block is a part of a page: content goes in and comes out. */
function isPart(blocks: readonly Block[], guid: string, catalogue: ReadonlyMap<string, BlockDefinition>) {
  const definition = catalogue.get(blocks.find((block) => block.guid === guid)?.type ?? '')
  return definition?.kind === 'value' && 'state' in definition.in && 'state' in definition.out
}

export interface PreviewAsked {
  readonly blueprint: string
  /** Guid of the page block. */
  readonly page: string
  /** Values of the parameters of its path. */
  readonly parameters: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query: string
  readonly caller: Caller
  /** Whether the caller does not hold a scope. */
  readonly lacks: (scope: string) => boolean
}

export interface PreviewRun {
  readonly page: CompiledPage
  /** Path and query. */
  readonly url: string
  readonly reply: Reply | undefined
  readonly failure: Pick<RunLogEntry, 'message' | 'block' | 'pin'> | undefined
}

export type PreviewPages = (asked: PreviewAsked) => Promise<PreviewRun>

/** On SQLite a flow that writes holds the one writer for as long. */
const DEADLINE = 2_000

/** Parts of a page that are left out at most, each after another visit. */
const MOST_LEFT_OUT = 5
const MOST_COMPILED = 8

/**
 * Blocks that cannot run, and parts of the page that fail, are left out: `failure` is about the first of them. NOT_FOUND for a page
 * that is not among the staged blocks, VALIDATION_FAILED where nothing is left of it.
 */
export function previewPages(flows: Flows): PreviewPages {
  const copies = tracedFlows(flows.live)
  return async (asked) => {
    const signing = signingBlocks(flows.catalogue)
    let blocks: readonly Block[] = await candidateBlocks(flows.records, asked.blueprint, 'staged')
    if (!blocks.some(({ guid }) => guid === asked.page))
      throw new QuoinError('NOT_FOUND', `The blueprint has no page block with the guid ${asked.page}.`)
    refuseLackedScopes(blocks, flows.catalogue, asked.lacks)
    let first: PreviewRun['failure']
    for (let round = 0; ; round += 1) {
      const staged = await stagedPage(signing, asked, blocks)
      const ran = await visitPage(flows, copies, asked, staged)
      const isShown = ran.reply?.page?.kind === 'show'
      if (staged.refused && !isShown) throw staged.refused
      first ??= staged.problem ?? ran.failure
      const failed = ran.failure?.block
      const isOver = isShown || failed === undefined || round === MOST_LEFT_OUT
      if (isOver || !isPart(staged.blocks, failed, signing)) return { ...ran, failure: first }
      blocks = withoutBlocks(staged.blocks, new Set([failed]))
    }
  }
}

async function visitPage(
  flows: Flows,
  copies: ReturnType<typeof tracedFlows>,
  { blueprint, page: block, parameters, query, caller }: PreviewAsked,
  { page, compiled }: Staged,
): Promise<PreviewRun> {
  let failure: PreviewRun['failure']
  // The watchdog keeps a name of each flow that ran: a preview would add one for each change of a block.
  const { running: _, ...shared } = flows.environment
  const { discard, ...nothingStays } = discardingEnvironment(shared, DEADLINE)
  const environment: RunEnvironment = {
    ...shared,
    ...nothingStays,
    log(entry) {
      if (entry.level === 'error') failure ??= entry
    },
    findFunction(name, owner) {
      const own = compiled.functions.get(name)
      if (own) return copies.functionOf(own, copies.of, compiled)
      const found = shared.findFunction(name, owner)
      return found && copies.functionOf(found, copies.of)
    },
  }
  const url = addressOf(page, parameters, query)
  const request = {
    method: 'GET',
    url,
    headers: {},
    ip: '127.0.0.1',
    query: Object.fromEntries(new URLSearchParams(query)),
    path: parameters,
    body: undefined,
    ...caller,
    visit: lookingVisit,
  }
  let reply: Reply | undefined
  const onReply = (made: Reply) => {
    reply = made
  }
  try {
    const input = page.start(request)
    const flow = copies.of(compiled, page.flow)?.flow
    if (!flow) throw new TypeError(`${block} is no page of the blueprint.`)
    const start = { flow, blueprint, input, request, onReply }
    const run = new Run(environment, start)
    copies.recorders.set(run, withoutEffects)
    const end = await run.execute(start)
    if (end.error) failure ??= { message: end.error.message, block: undefined, pin: undefined }
  } finally {
    await discard()
  }
  return { page, url, reply, failure }
}

interface Staged {
  readonly page: CompiledPage
  readonly compiled: CompiledBlueprint
  /** Those that can run. */
  readonly blocks: readonly Block[]
  /** Of blocks that were left out: the first problem, and the error with all. */
  readonly problem?: Problem
  readonly refused?: QuoinError
}

async function stagedPage(
  catalogue: Flows['catalogue'],
  { blueprint: guid, page: block }: PreviewAsked,
  input: readonly Block[],
): Promise<Staged> {
  let blocks = input
  let refused: QuoinError | undefined
  for (let round = 0; ; round += 1) {
    try {
      const compiled = await compileToRun(guid, blocks, catalogue)
      const page = compiled.pages.find((one) => one.block === block)
      if (!page) throw new QuoinError('NOT_FOUND', `The block ${block} is not a page.`)
      const [problem] = refused?.problems ?? []
      return { page, compiled, blocks, ...(problem && { problem }), ...(refused && { refused }) }
    } catch (error) {
      const problems = error instanceof QuoinError ? (error.problems ?? []) : []
      const left = new Set(problems.map((problem) => problem.block))
      const isHopeless = left.size === 0 || left.has(block) || left.has('') || round === MOST_COMPILED
      if (!(error instanceof QuoinError) || isHopeless) throw refused ?? error
      refused ??= error
      blocks = withoutBlocks(blocks, left)
    }
  }
}

/** The path of the page with its parameters filled in. */
function addressOf(
  { listening }: CompiledPage,
  parameters: PreviewAsked['parameters'],
  query: string,
): string {
  const path = listening.uri.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  )
  return query === '' ? `/${path}` : `/${path}?${query}`
}

/** Keeps nothing: blocks do their work, but those that have effects outside. */
const withoutEffects: Recorder = {
  pins: (_block, frame, gather) => ({ ...gather(frame) }),
  value: (_block, _inputs, _more, work) => work(),
  flow: ({ node: { definition } }, _inputs, _context, work) =>
    effectsOf(definition).calls ? refuse(definition) : work(),
}

function refuse({ title }: BlockDefinition): never {
  throw new Error(`A preview has no effects, so it does not run "${title}".`)
}

// Blocks for a preview: those that add to a page write their guid onto what they add, so that a click on it finds the block. As
// definitions and not as a probe, because blocks that depend on constants alone run while the flow is compiled.

type Catalogue = ReadonlyMap<string, BlockDefinition>

function signingBlocks(catalogue: Catalogue): Catalogue {
  return new Map([...catalogue].map(([type, definition]) => [type, signing(definition)]))
}

function signing(definition: BlockDefinition): BlockDefinition {
  if (definition.kind !== 'value' || definition.out.state?.type !== 'state') return definition
  return {
    ...definition,
    value(inputs, context) {
      const input = definition.value(inputs, context)
      const { block } = context
      if (block === undefined || !isContent(input.state)) return input
      return { ...input, state: signed(input.state, drawnBlock(block)) }
    },
  }
}

/** What is signed already was there before, and so was all before it. */
function signed(content: PageContent, block: string): PageContent {
  const added: PageContent['node'][] = []
  let at: PageContent | undefined = content
  for (; at && at.node.madeBy === undefined; at = at.before) added.push(at.node)
  return (
    added.reduceRight<PageContent | undefined>(
      (before, node) => ({ before, node: { ...node, madeBy: block } }),
      at,
    ) ?? content
  )
}

function isContent(value: unknown): value is PageContent {
  return typeof value === 'object' && value !== null && 'node' in value
}
