import { readTracing, setTracing } from '../../../flows/trace/set-tracing.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { setTracingSchema, tracingSchema } from '../../../shared/api/runs.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'

const tags = ['Runs']

/** Whether runs of a blueprint are traced, and where they pause. */
export function blueprintTracingRoutes(tracing: Tracing): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/tracing',
      {
        config: { permission: 'blueprints_view' },
        schema: {
          operationId: 'getTracing',
          summary: 'Whether runs of a blueprint are traced',
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
            'For some minutes: each run of the blueprint is kept with what its blocks got and gave. Runs pause before the blocks in `breakpoints`; those that there are stay if none are given. Holds on all nodes when this answers; turning off lets paused runs go on.',
          tags,
          params: guidParams,
          body: setTracingSchema,
          response: { 200: tracingSchema },
        },
      },
      (request) => setTracing(tracing, request.params.guid, request.body, actorOf(request)),
    )
  }
}
