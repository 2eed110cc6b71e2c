/**
 * One visit of a page of staged blocks, for its builder. It reads what is stored and leaves nothing. Blocks with effects
 * outside of the database fail, in functions of other blueprints too.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { Reply } from '../../blocks/reply.ts'
import { QuoinError } from '../../shared/errors.ts'
import { candidateBlocks } from '../blueprints/candidate-blocks.ts'
import { compileToRun } from '../compile/compile-blueprint.ts'
import type { CompiledPage } from '../compile/frame.ts'
import type { Recorder } from '../compile/probe.ts'
import type { Flows } from '../flows.ts'
import { Run } from '../run/run.ts'
import type { RunEnvironment, RunLogEntry } from '../run/run-environment.ts'
import { discardingEnvironment } from './discarding-environment.ts'
import { type Caller, lookingVisit } from './recorded-request.ts'
import { signingBlocks } from './signed-nodes.ts'
import { tracedFlows } from './traced-flows.ts'

export interface PreviewAsked {
  readonly blueprint: string
  /** Guid of the page block. */
  readonly page: string
  /** Values of the parameters of its path. */
  readonly parameters: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query: string
  readonly caller: Caller
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

/** NOT_FOUND for a page that is not among the staged blocks, VALIDATION_FAILED for blocks that cannot run. */
export function previewPages(flows: Flows): PreviewPages {
  const { catalogue, records, live } = flows
  const signing = signingBlocks(catalogue)
  const copies = tracedFlows(live)
  return async ({ blueprint, page: block, parameters, query, caller }) => {
    const page = await stagedPage(records, signing, blueprint, block)
    let failure: PreviewRun['failure']
    const compiled = page.blueprint
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
    const url = addressOf(page.page, parameters, query)
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
      const given = page.page.start(request)
      const flow = copies.of(compiled, page.page.flow)?.flow
      if (!flow) throw new TypeError(`${block} is no page of the blueprint.`)
      const start = { flow, blueprint, given, request, onReply }
      const run = new Run(environment, start)
      copies.recorders.set(run, withoutEffects)
      const end = await run.execute(start)
      if (end.error) failure ??= { message: end.error.message, block: undefined, pin: undefined }
    } finally {
      await discard()
    }
    return { page: page.page, url, reply, failure }
  }
}

async function stagedPage(
  records: Flows['records'],
  catalogue: Flows['catalogue'],
  guid: string,
  block: string,
) {
  const blocks = await candidateBlocks(records, guid, 'staged')
  if (!blocks.some((one) => one.guid === block))
    throw new QuoinError('NOT_FOUND', `The blueprint has no page block with the guid ${block}.`)
  const blueprint = await compileToRun(guid, blocks, catalogue)
  const page = blueprint.pages.find((one) => one.block === block)
  if (!page) throw new QuoinError('NOT_FOUND', `The block ${block} is not a page.`)
  return { page, blueprint }
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
    definition.kind === 'flow' && definition.outside ? refuse(definition) : work(),
}

function refuse({ title }: BlockDefinition): never {
  throw new Error(`A preview has no effects, so it does not run "${title}".`)
}
