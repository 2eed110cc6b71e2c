import type { FastifyContextConfig } from 'fastify'
import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { presentCaller } from '../../../access/present-caller.ts'
import { holds } from '../../../access/scopes.ts'
import { sendRecordedAgain } from '../../../flows/background/dead-letter-requests.ts'
import type { QueueSteering } from '../../../flows/background/queue-steering.ts'
import type { Steering } from '../../../flows/trace/breakpoints.ts'
import { compareRuns, MOST_COMPARED_MS } from '../../../flows/trace/compare-runs.ts'
import { getRun, listRuns, pausedRuns, recordOf } from '../../../flows/trace/find-runs.ts'
import { type FindCaller, replayRun } from '../../../flows/trace/replay.ts'
import { detailOf, summaryOf } from '../../../flows/trace/run-record.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import {
  comparedRunsSchema,
  compareRunsSchema,
  ofBlueprintQuery,
  pausedRunSchema,
  replaySchema,
  runListQuery,
  runSchema,
  runSummarySchema,
  sentAgainSchema,
} from '../../../shared/api/blueprints/runs.ts'
import { requeueSchema } from '../../../shared/api/operate/queues.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { neededScopes } from '../../server/permission.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, deployerOf, searchReply } from '../search-reply.ts'
import { type RunStreams, runStreams } from './run-stream.ts'

const tags = ['Runs']

/** A run shows what each block got and gave: the blocks, and the data of its caller. */
const seesRuns = {
  permission: 'blueprints_view',
  alsoNeeds: ['runs_view', 'blueprintactions_view'],
} satisfies FastifyContextConfig

/** On blocks that are not deployed: of those who change them. */
const repeatsRuns = {
  permission: 'blueprints_update',
  alsoNeeds: seesRuns.alsoNeeds,
  bodyOptional: true,
  errors: ['CONFLICT', 'VALIDATION_FAILED'],
} satisfies FastifyContextConfig

/** What can be done with a paused run, and what the API says of it. */
const steerings: readonly {
  readonly steering: Steering
  readonly summary: string
  readonly description: string
}[] = [
  {
    steering: 'step',
    summary: 'Run a paused run to the next flow block',
    description: 'It pauses there for up to a minute.',
  },
  {
    steering: 'resume',
    summary: 'Resume a paused run',
    description: 'It runs to the next breakpoint or to its end.',
  },
  {
    steering: 'stop',
    summary: 'Stop a paused run',
    description: 'It fails with 409 RUN_STOPPED, and its uncommitted writes are undone.',
  },
]

/** Runs that were traced, and those that stand still. */
export function runRoutes(
  tracing: Tracing,
  access: Pick<Access, 'identify' | 'getUser' | 'scopesOfUser'>,
): RouteFamily {
  const shared = sharedParts(tracing, access)
  return (app) => {
    const streams = runStreams()
    const unlisten = tracing.news.listen((summary) => streams.tell(summary))
    // Before the server waits for its requests: these would never end.
    app.addHook('preClose', async () => {
      unlisten()
      streams.close()
    })

    listRunsRoute(app, shared)
    watchRunsRoute(app, streams, access)
    listPausedRunsRoute(app, shared)
    getRunRoute(app, shared)
    replayRunRoute(app, shared)
    compareRunsRoute(app, shared)
    for (const steering of steerings) steerRoute(app, tracing, steering)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(tracing: Tracing, access: Pick<Access, 'identify' | 'getUser' | 'scopesOfUser'>) {
  const findCaller: FindCaller = presentCaller(access)
  return { tracing, findCaller }
}

function listRunsRoute(app: App, { tracing }: SharedParts): void {
  app.get(
    '/runs',
    {
      config: seesRuns,
      schema: {
        operationId: 'listRuns',
        summary: 'Traced runs',
        description:
          'Newest first. Kept for `QUOIN_KEEP_RUNS` hours, and only the last ones of each blueprint.',
        tags,
        querystring: runListQuery,
        response: { 200: Type.Array(runSummarySchema) },
      },
    },
    async (request, reply) => searchReply(reply, {}, await listRuns(tracing, request.query)),
  )
}

function listPausedRunsRoute(app: App, { tracing }: SharedParts): void {
  app.get(
    '/runs/paused',
    {
      config: seesRuns,
      schema: {
        operationId: 'listPausedRuns',
        summary: 'Runs paused at a breakpoint',
        tags,
        querystring: ofBlueprintQuery,
        response: { 200: Type.Array(pausedRunSchema) },
      },
    },
    (request) => pausedRuns(tracing, request.query.blueprint),
  )
}

function getRunRoute(app: App, { tracing }: SharedParts): void {
  app.get(
    '/runs/:guid',
    {
      config: seesRuns,
      schema: {
        operationId: 'getRun',
        summary: 'One traced run, step by step',
        tags,
        params: guidParams,
        response: { 200: runSchema },
      },
    },
    (request) => getRun(tracing, request.params.guid),
  )
}

function replayRunRoute(app: App, { tracing, findCaller }: SharedParts): void {
  app.post(
    '/runs/:guid/replay',
    {
      config: repeatsRuns,
      schema: {
        operationId: 'replayRun',
        summary: 'Run a traced request again',
        description:
          'On the saved, staged or deployed blocks; the reply is compared with the recorded one (`_meta` is ignored). Its writes are undone, and blocks with external effects give their recorded outputs, or those of the runs that `pinned` names. 409 for a run that cannot be repeated, 422 for blocks that cannot run.',
        tags,
        params: guidParams,
        body: replaySchema,
        response: { 200: runSchema },
      },
    },
    (request) => {
      const { state = 'saved', pinned } = request.body
      return replayRun(tracing, findCaller, request.params.guid, state, deployerOf(request).lacks, pinned)
    },
  )
}

/** For real, so it is of those who steer the queue, and see the run. */
export function sendAgainRoutes(tracing: Tracing, steering: Pick<QueueSteering, 'requeue'>): RouteFamily {
  const { database } = tracing.flows.records
  return (app) => {
    app.post(
      '/runs/:guid/send_again',
      {
        config: {
          permission: 'queue_update',
          alsoNeeds: [seesRuns.permission, ...seesRuns.alsoNeeds],
          bodyOptional: true,
          errors: ['CONFLICT'],
        },
        schema: {
          operationId: 'sendRunAgain',
          summary: 'Send the request of a failed run again, for real',
          description:
            'Of a request to an endpoint that was answered with a status from 500 on: a job runs the whole flow on the deployed version, for the user who sent it. Without `repeat`, one whose run has done something that stays is refused with 409, which lists that. 409 too for other runs, for a request that was not recorded as a whole, and for one that was sent again already; when it fails it is a dead letter, which can be.',
          tags,
          params: guidParams,
          body: requeueSchema,
          response: { 200: sentAgainSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        const { letter } = detailOf(await recordOf(tracing, guid))
        const asked = { by: actorOf(request), agreed: request.body.repeat === true }
        return { job: await sendRecordedAgain(guid, letter, { database, steering, ...asked }) }
      },
    )
  }
}

function compareRunsRoute(app: App, { tracing, findCaller }: SharedParts): void {
  app.post(
    '/blueprints/:guid/compare',
    {
      config: repeatsRuns,
      schema: {
        operationId: 'compareRuns',
        summary: 'Compare changed blocks with the deployed ones by recorded runs',
        description:
          'Repeats traced runs and recorded requests on the staged or saved blocks and on the deployed ones, on the same data, and lists replies that differ. Writes are undone, and blocks with external effects give their recorded outputs. What differs between two repetitions of the deployed blocks, such as times and new guids, is compared by its shape.',
        tags,
        params: guidParams,
        body: compareRunsSchema,
        response: { 200: comparedRunsSchema },
      },
    },
    (request) => {
      const { state = 'staged', runs = 50, accepted = [], remember = false } = request.body
      const until = tracing.environment.clock() + MOST_COMPARED_MS
      return compareRuns(tracing, findCaller, {
        ...{ blueprint: request.params.guid, candidate: state, runs, accepted, until },
        lacks: deployerOf(request).lacks,
        ...(remember && { rememberedBy: actorOf(request) }),
      })
    },
  )
}

/** A stream ends when its caller may no longer see runs. */
function watchRunsRoute(app: App, streams: RunStreams, access: Pick<Access, 'identify'>): void {
  app.get(
    '/runs/stream',
    {
      config: { ...seesRuns, entityTag: false },
      schema: {
        operationId: 'watchRuns',
        summary: 'Stream traced runs',
        description:
          'Server-sent events named `run`, each with a summary: when a traced run starts, pauses and ends. Of runs on other nodes, only pauses and ends are sent.',
        tags,
        querystring: ofBlueprintQuery,
        response: {
          200: {
            description: 'An endless stream.',
            content: { 'text/event-stream': { schema: Type.Unsafe<unknown>({ type: 'string' }) } },
          },
        },
      },
    },
    (request, reply) => {
      const { accessToken: token } = request
      const mayStay = async () => {
        const identity = token === undefined ? undefined : await access.identify(token)
        return (
          identity !== undefined &&
          identity.key?.mayCall(request.method, request.url) !== false &&
          neededScopes(seesRuns).every((scope) => holds(identity.scopes, scope))
        )
      }
      return streams.open(reply, request.query.blueprint, mayStay)
    },
  )
}

function steerRoute(
  app: App,
  tracing: Tracing,
  { steering, summary, description }: (typeof steerings)[number],
): void {
  app.post(
    `/runs/:guid/${steering}`,
    {
      config: { permission: 'blueprints_update', alsoNeeds: ['runs_view'], bodyOptional: true },
      schema: {
        operationId: `${steering}Run`,
        summary,
        description: `${description} 404 if the run is not paused.`,
        tags,
        params: guidParams,
        response: { 200: runSummarySchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      const { status } = await recordOf(tracing, guid)
      if (status !== 'paused') throw new QuoinError('NOT_FOUND', 'The run is not paused.')
      await tracing.steer(guid, steering)
      return summaryOf(await recordOf(tracing, guid))
    },
  )
}
