import { Type } from 'typebox'
import { storedRecord, typedJson } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'
import { type PinValues, type RunSummary, runSummarySchema } from './runs.ts'

const lastStep = Type.Object({
  block: Type.String(),
  run: Type.String({ description: 'Guid of the run, which is among `runs`.' }),
  mark: Type.String({
    description: 'What the block was in that run: another text when it was changed since; empty if unknown.',
  }),
  at: Type.Integer({ description: 'Place of the step in the run, from 0.' }),
  in: typedJson<PinValues>('Pin → value. A long one is `{ $cut, bytes }`.'),
  out: typedJson<PinValues>('Pin → value.'),
  error: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
})

export const lastValuesSchema = Type.Object({
  runs: Type.Array(runSummarySchema, { description: 'The runs that the steps are of, the newest first.' }),
  steps: Type.Array(storedRecord(lastStep), {
    description: 'One for each block that a stored run passed: its last step in the newest of them.',
  }),
})
export type LastStep = Wire<typeof lastStep>
export interface LastValues {
  readonly runs: readonly RunSummary[]
  readonly steps: readonly LastStep[]
}
