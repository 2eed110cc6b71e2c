import type { Waits } from '../../../flows/background/waits.ts'
import type { WaitRecord } from '../../../flows/run/wait-record.ts'
import {
  continueWaitSchema,
  movedWaitsSchema,
  moveWaitsSchema,
  waitSchema,
} from '../../../shared/api/operate/waits.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Clock } from '../../../shared/clock.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
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
  return (app) => {
    const routes = resource(app, { path, scopes: 'waits', tags, record: waitSchema, searchable })
    routes.list(
      {
        operationId: 'searchWaits',
        summary: 'List runs that wait',
        description: 'A wait is in the list until its run has continued to its end.',
      },
      async (requested) => {
        const page = await waits.search(requested)
        const errors = await waits.failures(page.records)
        return { ...page, records: page.records.map((wait) => wireWait(wait, errors)) }
      },
    )
    routes.get({ operationId: 'getWait', summary: 'One run that waits' }, async (guid) =>
      shownOf(waits, await foundIn(waits, guid)),
    )
    routes.remove(
      {
        operationId: 'removeWait',
        summary: 'Cancel a wait',
        description: 'Its run never continues. What it wrote before stays.',
        errors: ['CONFLICT'],
      },
      async (guid, request) => {
        if (!(await waits.cancel(await foundIn(waits, guid), actorOf(request)))) throw changed()
      },
    )
    continueWaitRoute(app, waits, clock)
    moveWaitsRoute(app, waits)
  }
}

async function foundIn(waits: Waits, guid: string): Promise<WaitRecord> {
  const wait = await waits.find(guid)
  if (!wait) throw new QuoinError('NOT_FOUND', `There is no wait with the guid ${guid}. It may have ended.`)
  return wait
}

async function shownOf(waits: Waits, wait: WaitRecord): Promise<JsonObject> {
  return wireWait(wait, await waits.failures([wait]))
}

function continueWaitRoute(app: App, waits: Waits, clock: Clock): void {
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
        description:
          'Ends the wait on one of the ways of its block. The run continues as a job. Where that job has failed, the run continues again, with the way, user and comment that it was ended with.',
        tags,
        params: guidParams,
        body: continueWaitSchema,
        response: { 200: waitSchema },
      },
    },
    async (request) => {
      const wait = await foundIn(waits, request.params.guid)
      const { way: asked, comment = '', body, version } = request.body
      if (wait.state !== 'waiting') {
        checkDecided(wait, asked)
        await waits.again(wait, version === 'current', actorOf(request))
        return shownOf(waits, await foundIn(waits, wait.guid))
      }
      if (version !== undefined)
        throw invalidField('version', 'version is for runs whose job has failed. Move the others.')
      const way = asked ?? 'flow'
      const known = waysOf(wait)
      if (!known.includes(way)) throw invalidField('way', `way must be one of ${known.join(', ')}.`)
      const by = actorOf(request)
      const gives = { next: way, at: new Date(clock()), comment, body, by: { ...by } }
      const reported = { decision: way, by_hand: true, ...(comment !== '' && { comment }) }
      if (!(await waits.end(wait, { gives: givesOf(wait, gives), logged: reported, by }))) throw changed()
      return shownOf(waits, (await waits.find(wait.guid)) ?? { ...wait, state: 'resumed' })
    },
  )
}

function moveWaitsRoute(app: App, waits: Waits): void {
  app.post(
    `${path}/move`,
    {
      config: { permission: 'waits_update', errors: ['CONFLICT'] },
      schema: {
        operationId: 'moveWaits',
        summary: 'Move runs that wait to the present version',
        description:
          'A run that waits continues on the version that it began with. This moves the runs of a blueprint to its present version, where that has their blocks and they have stored what the blocks behind the wait read; the reply names the others.',
        tags,
        body: moveWaitsSchema,
        response: { 200: movedWaitsSchema },
      },
    },
    async (request) => {
      const { blueprint, waits: named, again = false, dry_run: dryRun = false, after } = request.body
      const requested = { blueprint, waits: named, again, dryRun, after }
      const { unmoved, next = null, ...done } = await waits.move(requested, actorOf(request))
      return { ...done, kept: [...unmoved], next }
    },
  )
}

/** A decision is not replaced: it may have been acted on. */
function checkDecided({ gives }: WaitRecord, asked: string | undefined): void {
  const { next } = gives
  const decided = next && 'json' in next ? next.json : undefined
  if (asked === undefined || decided === undefined || decided === asked) return
  throw new QuoinError(
    'CONFLICT',
    `The wait was ended on the way ${String(decided)} already. Leave way out to continue with that.`,
  )
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

function wireWait(wait: WaitRecord, errors: ReadonlyMap<string, string>): JsonObject {
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
    error: errors.get(wait.job) ?? '',
  }
}
