import { readTracing, setTracing } from '../../../flows/trace/set-tracing.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { setTracingSchema, tracingSchema } from '../../../shared/api/runs.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'

const tags = ['Runs']

/** Tracing state of a blueprint, and where they pause. */
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
  }
}
