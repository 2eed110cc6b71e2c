import { type Static, Type } from 'typebox'
import { figureRanges } from '../../charts/chart-scale.ts'

export const figuresQuery = Type.Object(
  {
    range: Type.Optional(
      Type.Enum(figureRanges, {
        description:
          '`hour`: a point a minute; `day` (the default): one for ten minutes; `week`: one an hour.',
      }),
    ),
    until: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 32_503_680_000,
        description: 'End of the range, in Unix seconds; now if not given. Minutes are kept for a day.',
      }),
    ),
    node: Type.Optional(
      Type.String({ maxLength: 255, description: 'Name of one node; all together if not given.' }),
    ),
  },
  { additionalProperties: false },
)

const latency = (share: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `Milliseconds that ${share} of the requests stayed below, estimated; null without requests.`,
  })

const figurePointSchema = Type.Object({
  at: Type.Integer({ description: 'Beginning of the step: Unix seconds.' }),
  requests: Type.Integer({
    description: 'Finished requests; those of the studio, health checks and /metrics are not counted.',
  }),
  refused: Type.Integer({ description: 'Replies with 4xx.' }),
  failed: Type.Integer({ description: 'Replies with 5xx.' }),
  runs: Type.Integer({ description: 'Ended runs, those of jobs and schedules included.' }),
  failed_runs: Type.Integer({ description: 'Runs that failed (500) or were stopped (503).' }),
  p50: latency('half'),
  p95: latency('95 of 100'),
  waiting: Type.Integer({ description: 'Most waiting jobs of all queues.' }),
  running: Type.Integer({ description: 'Most running jobs.' }),
  dead: Type.Integer({ description: 'Most dead letters.' }),
  oldest: Type.Integer({ description: 'Seconds that the oldest due job waited, at most.' }),
})
export type FigurePoint = Static<typeof figurePointSchema>

export const figuresSchema = Type.Object({
  range: Type.Enum(figureRanges),
  from: Type.Integer({ description: 'Beginning of the first point: Unix seconds.' }),
  step: Type.Integer({ description: 'Seconds of one point.' }),
  nodes: Type.Array(Type.String(), { description: 'Names of the nodes that served requests in this time.' }),
  complete: Type.Boolean({ description: 'False where more nodes served than one answer adds up.' }),
  points: Type.Array(figurePointSchema, { description: 'One for each step, also where nothing happened.' }),
})
export type FiguresOverTime = Static<typeof figuresSchema>
