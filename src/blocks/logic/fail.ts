import { defineFlow } from '../block.ts'
import { failurePins, flowFailure } from './flow-failure.ts'

export default defineFlow({
  identifier: 'fail',
  title: 'Fail',
  words: 'Fail[ {status}][ {message}]',
  summary:
    'Ends the run, undoes its writes and jobs, and replies an error. In a custom function the run of the caller ends too, unless error of the call is wired. A job counts as failed; a page shows the error.',
  ends: true,
  // An error is never kept; what the flow replies otherwise may be.
  effects: { cacheable: true, callerIndependent: true },
  in: failurePins,
  out: {},
  settings: {},
  run(inputs) {
    throw flowFailure(inputs)
  },
})
