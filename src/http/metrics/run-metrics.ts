import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Metric } from './prometheus-text.ts'

/** Runs by blueprint and outcome, as the pipeline has counted them. */
export function runMetrics(
  { ends, behindReply, underWay }: Pick<Runs, 'ends' | 'behindReply' | 'underWay'>,
  live: Pick<LiveBlueprints, 'table'>,
): Metric[] {
  const { blueprints } = live.table()
  return [
    {
      name: 'quoin_runs_total',
      help: 'Ended runs by blueprint and outcome: done, refused (4xx), failed (500), stopped (503).',
      type: 'counter',
      samples: [...ends].flatMap(([blueprint, counts]) =>
        Object.entries(counts).map(([outcome, value]) => ({
          labels: { blueprint, name: blueprints.get(blueprint)?.name ?? '', outcome },
          value,
        })),
      ),
    },
    {
      name: 'quoin_requests_failed_behind_reply_total',
      help: 'Requests whose run has failed after its reply was sent. Each is a dead letter of the queue _requests.',
      type: 'counter',
      samples: [...blueprints.values()].flatMap(({ compiled }) =>
        compiled.endpoints.flatMap(({ flow, listening: { method, uri } }) => {
          const value = behindReply.get(flow.trigger)
          return value === undefined ? [] : [{ labels: { method, route: `/api/v1/${uri}` }, value }]
        }),
      ),
    },
    {
      name: 'quoin_runs_under_way',
      help: 'Runs in progress that wait.',
      type: 'gauge',
      samples: [{ value: underWay() }],
    },
  ]
}
