/**
 * One visit of a page of staged blocks, for its builder. It reads what is stored and leaves nothing. Blocks with effects
 * outside of the database fail, in functions of other blueprints too.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { Reply } from '../../blocks/reply.ts'
import { QuoinError } from '../../shared/errors.ts'
import { candidateBlocks } from '../blueprints/candidate-blocks.ts'
import { compileToRun } from '../compile/compile-to-run.ts'
import type { CompiledPage } from '../compile/frame.ts'
import type { Probe } from '../compile/probe.ts'
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
  const copies = tracedFlows(signing, withoutEffects)
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
        if (own) return own
        const { blueprints } = live.table()
        const found = [blueprints.get(owner), ...blueprints.values()].find((one) =>
          one?.compiled.functions.has(name),
        )
        return found && copies.functionOf(found.compiled, name)
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
      const start = { flow: page.page.flow, blueprint, given, request, onReply }
      const end = await new Run(environment, start).execute(start)
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
  const blueprint = await compileToRun(guid, blocks, catalogue, withoutEffects)
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

/** Every block as it is, but those that have effects outside. */
const withoutEffects: Probe = {
  flow: (_node, definition) =>
    definition.outside ? { ...definition, run: () => refuse(definition) } : definition,
  value: (_node, definition) => definition,
  gather: (_node, gather) => gather,
  expression: (_expression, evaluate) => evaluate,
  name: (_name, read) => read,
  event: (_node, store) => store,
}

function refuse({ title }: BlockDefinition): never {
  throw new Error(`A preview has no effects, so it does not run "${title}".`)
}
