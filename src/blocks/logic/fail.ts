import { QuoinError } from '../../shared/errors.ts'
import { defineFlow, PinError } from '../block.ts'

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const LONGEST_MESSAGE = 2_000

export default defineFlow({
  identifier: 'fail',
  title: 'Fail',
  words: 'Fail[ {status}][ {message}]',
  summary:
    'Ends the run, undoes its writes and jobs, and replies an error. In a custom function the run of the caller ends too, unless error of the call is wired. A job counts as failed; a page shows the error.',
  ends: true,
  // An error is never kept; what the flow replies otherwise may be.
  repeatable: true,
  ignoresCaller: true,
  in: {
    status: {
      type: 'number',
      default: 400,
      min: 400,
      max: 599,
      integer: true,
      help: 'Status code of the reply: 400 bad request, 403 forbidden, 404 not found, 409 conflict.',
    },
    message: { type: 'value', default: 'The request failed.', help: 'What went wrong, for the client.' },
    code: {
      type: 'value',
      help: 'A word for programs, such as OUT_OF_STOCK: code of the reply. Empty: the reply has none.',
    },
    details: {
      type: 'object',
      help: 'More about the error: details of the reply. Empty: the reply has none.',
    },
  },
  out: {},
  settings: {},
  run({ status, message, code: given, details }) {
    if (message.length > LONGEST_MESSAGE)
      throw new PinError('message', `must have at most ${LONGEST_MESSAGE} characters`)
    const code = given === '' ? undefined : given
    if (code !== undefined && !CODE.test(code))
      throw new PinError('code', 'must be 1 to 64 letters, digits and _.-, starting with a letter')
    throw new QuoinError('FLOW_FAILED', message, { flow: { status, code, details } })
  },
})
