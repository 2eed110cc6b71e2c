import { lastValues } from '../../../flows/trace/last-values.ts'
import { readTracing, setTracing } from '../../../flows/trace/set-tracing.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import { lastValuesSchema } from '../../../shared/api/blueprints/last-values.ts'
import { setTracingSchema, tracingSchema } from '../../../shared/api/blueprints/runs.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'

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
