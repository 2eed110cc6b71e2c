import { defineFlow } from '../block.ts'
import { failurePins, flowFailure } from './flow-failure.ts'

export default defineFlow({
  identifier: 'ensure',
  title: 'Ensure',
  summary:
    'Continues if the condition holds. Else it is as "Fail": the run ends, its writes and jobs are undone, and the reply is an error.',
  // An error is never kept; what the flow replies otherwise may be.
  effects: { cacheable: true, callerIndependent: true },
  in: {
    condition: { type: 'condition', help: 'What must hold. Empty counts as false.' },
    ...failurePins,
  },
  out: {},
  settings: {},
  run({ condition, ...failure }) {
    if (!condition) throw flowFailure(failure)
    return undefined
  },
})
