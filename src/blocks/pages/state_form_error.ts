import { QuoinError } from '../../shared/errors.ts'
import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'state_form_error',
  title: 'Refuse form',
  words: 'Refuse[ {field}]: {message}',
  summary:
    'Refuses a submitted form: the page is shown again with the entered values and the message, and the writes of the flow are undone.',
  in: {
    message: { type: 'value', required: true, help: 'The error, as a complete sentence.' },
    field: { type: 'value', help: 'The input with the error. Empty: the whole form.' },
  },
  out: {},
  settings: {},
  ends: true,
  run(inputs): undefined {
    throw new QuoinError('INVALID_BODY', inputs.message, { fields: inputs.field ? [inputs.field] : [] })
  },
})
