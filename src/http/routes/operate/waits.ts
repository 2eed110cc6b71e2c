import type { Waits } from '../../../flows/background/waits.ts'
import type { WaitRecord } from '../../../flows/run/wait-record.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { continueWaitSchema, waitSchema } from '../../../shared/api/operate/waits.ts'
import type { Clock } from '../../../shared/clock.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { resource } from '../resource.ts'
import type { SearchField } from '../search-request.ts'

const path = '/_system/waits'
const tags = ['Waits']
/** What counts as sent may be as long as what is sent to a hook, and has a little around it. */
const MOST_BYTES = 264 * 1024

const searchable: readonly SearchField[] = [
  ...['kind', 'state', 'title', 'blueprint', 'block', 'run', 'user.guid', 'user.username'].map((name) => ({
    name,
    type: 'string' as const,
  })),
  { name: 'deployment', type: 'number' },
]

/** The ways on which a run can continue after each kind of wait. */
const ways = {
  time: ['flow'],
  approval: ['approved', 'rejected', 'timeout'],
  request: ['received', 'timeout'],
  document: ['found', 'timeout'],
} as const satisfies Record<WaitRecord['kind'], readonly string[]>

function waysOf({ kind, awaits }: WaitRecord): readonly string[] {
  return awaits?.none ? ['gone', 'timeout'] : ways[kind]
}

/** Runs that wait: listed, read, cancelled and continued by hand. */
export function waitRoutes(waits: Waits, clock: Clock): RouteFamily {
  async function found(guid: string): Promise<WaitRecord> {
    const wait = await waits.find(guid)
    if (!wait) throw new QuoinError('NOT_FOUND', `There is no wait with the guid ${guid}. It may have ended.`)
    return wait
  }

  return (app) => {
    const routes = resource(app, { path, scopes: 'waits', tags, record: waitSchema, searchable })
    routes.list(
      {
        operationId: 'searchWaits',
        summary: 'List runs that wait',
        description: 'A wait is in the list until its run has continued to its end.',
      },
      async (wanted) => {
        const page = await waits.search(wanted)
        return { ...page, records: page.records.map(wireWait) }
      },
    )
    routes.get({ operationId: 'getWait', summary: 'One run that waits' }, async (guid) =>
      wireWait(await found(guid)),
    )
    routes.remove(
      {
        operationId: 'removeWait',
        summary: 'Cancel a wait',
        description: 'Its run never continues. What it wrote before stays.',
        errors: ['CONFLICT'],
      },
      async (guid, request) => {
        if (!(await waits.cancel(await found(guid), actorOf(request)))) throw changed()
      },
    )
    app.post(
      `${path}/:guid/continue`,
      {
        config: {
          permission: 'waits_update',
          bodyOptional: true,
          bodyBytes: MOST_BYTES,
          errors: ['CONFLICT'],
        },
        schema: {
          operationId: 'continueWaitByHand',
          summary: 'Continue a run that waits',
          description: 'Ends the wait on one of the ways of its block. The run continues as a job.',
          tags,
          params: guidParams,
          body: continueWaitSchema,
          response: { 200: waitSchema },
        },
      },
      async (request) => {
        const wait = await found(request.params.guid)
        if (wait.state !== 'waiting') throw changed()
        const { way = 'flow', comment = '', body } = request.body
        const known = waysOf(wait)
        if (!known.includes(way)) throw invalidField('way', `way must be one of ${known.join(', ')}.`)
        const by = actorOf(request)
        const gives = { next: way, at: new Date(clock()), comment, body, by: { ...by } }
        const told = { decision: way, by_hand: true, ...(comment !== '' && { comment }) }
        if (!(await waits.end(wait, { gives: givesOf(wait, gives), told, by }))) throw changed()
        return wireWait((await waits.find(wait.guid)) ?? { ...wait, state: 'resumed' })
      },
    )
  }
}

interface Gives {
  readonly next: string
  readonly at: Date
  readonly comment: string
  readonly body: JsonValue | undefined
  readonly by: { readonly guid: string; readonly username: string }
}

/** What the block gives on this way: nothing of another kind of wait. */
function givesOf({ kind }: WaitRecord, { next, at, comment, body, by }: Gives) {
  if (next === 'flow' || next === 'timeout') return { next }
  if (next === 'found' || next === 'gone') return { next }
  return kind === 'approval' ? { next, at, comment, by } : { next, at, body }
}

function changed(): QuoinError {
  return new QuoinError('CONFLICT', 'The wait has ended meanwhile, or its job continues the run already.')
}

function wireWait(wait: WaitRecord): JsonObject {
  const { kind, state, title, blueprint, block, deployment, version, run, until, scopes, details } = wait
  return {
    _meta: wait.meta,
    ...{ kind, state, title, blueprint, block, deployment, version, run, details },
    until: until === null ? null : Math.floor(until / 1000),
    scopes: [...scopes],
    ways: [...waysOf(wait)],
    user: wait.origin.user ? { ...wait.origin.user } : null,
    storage: wait.awaits?.storage ?? '',
    job: wait.job || wait.timer,
  }
}
