import { type Static, Type } from 'typebox'

export const blockTimesSchema = Type.Object({
  deployment: Type.Integer({ description: 'Number of the deployed version; 0 if it was never deployed.' }),
  runs: Type.Integer({ description: 'Sampled runs of its triggers, in the last 24 to 30 hours.' }),
  blocks: Type.Array(
    Type.Object({
      block: Type.String(),
      passes: Type.Integer({ description: 'How often the sampled runs executed it.' }),
      p50_us: Type.Integer({
        description: 'Microseconds that half of them stayed below. Of a trigger: of the whole run.',
      }),
      p95_us: Type.Integer({ description: 'Microseconds that 95 of 100 stayed below.' }),
    }),
    { description: 'Blocks that sampled runs passed; estimates are at most 10 % off.' },
  ),
})
export type BlockTimes = Static<typeof blockTimesSchema>
