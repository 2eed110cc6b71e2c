import type { Access } from '../../../access/access.ts'
import { type HandRuns, runByHand } from '../../../flows/trace/hand-run.ts'
import { handRunSchema, runSchema } from '../../../shared/api/blueprints/runs.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'

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
          { trigger, state, effects, input, from: from_run, anonymous: anonymous === true, pinned },
          { user, scopes },
        )
      },
    )
  }
}
