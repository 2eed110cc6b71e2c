import type { Access } from '../../../access/access.ts'
import { type HandRuns, runByHand } from '../../../flows/trace/hand-run.ts'
import { lastValues, readTracing, setTracing } from '../../../flows/trace/set-tracing.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import { lastValuesSchema } from '../../../shared/api/blueprints/last-values.ts'
import {
  handRunSchema,
  runSchema,
  setTracingSchema,
  tracingSchema,
} from '../../../shared/api/blueprints/runs.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf, deployerOf } from '../search-reply.ts'

const tags = ['Runs']

/** Tracing state of a blueprint, where its runs pause, and the last values of its blocks. */
export function blueprintTracingRoutes(tracing: Tracing): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/tracing',
      {
        config: { permission: 'blueprints_view' },
        schema: {
          operationId: 'getTracing',
          summary: 'Tracing state of a blueprint',
          tags,
          params: guidParams,
          response: { 200: tracingSchema },
        },
      },
      (request) => readTracing(tracing, request.params.guid),
    )

    app.put(
      '/blueprints/:guid/tracing',
      {
        config: { permission: 'blueprints_update', errors: ['VALIDATION_FAILED'] },
        schema: {
          operationId: 'setTracing',
          summary: 'Turn tracing of a blueprint on or off',
          description:
            'For some minutes, each run of the blueprint is recorded with the inputs and outputs of its blocks. Runs pause before the blocks in `breakpoints`; without it, existing breakpoints are kept. Applies on all nodes when this replies. Turning tracing off resumes paused runs.',
          tags,
          params: guidParams,
          body: setTracingSchema,
          response: { 200: tracingSchema },
        },
      },
      (request) => setTracing(tracing, request.params.guid, request.body, actorOf(request)),
    )

    app.get(
      '/blueprints/:guid/last-values',
      {
        config: { permission: 'blueprints_view', alsoNeeds: ['runs_view', 'blueprintactions_view'] },
        schema: {
          operationId: 'getLastValues',
          summary: 'Last values of the blocks of a blueprint',
          description:
            'For each block the newest of the last 50 stored runs that passed it, however it was recorded, with the values that it has: masked and cut as in the run. Values beyond 256 KB in all are cut to 200 characters.',
          tags,
          params: guidParams,
          response: { 200: lastValuesSchema },
        },
      },
      (request) => lastValues(tracing, request.params.guid),
    )
  }
}

/** Triggers that a person starts. */
export function handRunRoutes(parts: HandRuns, access: Pick<Access, 'getUser'>): RouteFamily {
  return (app) => {
    app.post(
      '/blueprints/:guid/run',
      {
        config: {
          permission: 'blueprints_update',
          // A value for each pin of the trigger.
          bodyBytes: 'setting',
          alsoNeeds: ['runs_view', 'blueprintactions_view'],
          errors: ['CONFLICT', 'VALIDATION_FAILED', 'UNAVAILABLE'],
        },
        schema: {
          operationId: 'runByHand',
          summary: 'Run a trigger by hand',
          description:
            'Runs a function, schedule, event, endpoint or page once with the given input, and replies with the recorded run, also of one that failed. By default without effects: its writes, jobs and mails are undone, and blocks with external effects fail, or give the results of `from_run` or of the runs that `pinned` names. 409 for what cannot run in this way, 422 for blocks that cannot run.',
          tags: ['Runs'],
          params: guidParams,
          body: handRunSchema,
          response: { 200: runSchema },
        },
      },
      async (request) => {
        const { guid, scopes } = callerOf(request)
        const user = await access.getUser(guid)
        if (!user) throw new QuoinError('INVALID_ACCESS_TOKEN', 'The user no longer exists.')
        const {
          trigger,
          state = 'deployed',
          effects = 'discard',
          input,
          from_run,
          anonymous,
          pinned = [],
        } = request.body
        return runByHand(
          parts,
          request.params.guid,
          {
            ...{ trigger, state, effects, input, from: from_run, anonymous: anonymous === true, pinned },
            lacks: deployerOf(request).lacks,
          },
          { user, scopes },
        )
      },
    )
  }
}
