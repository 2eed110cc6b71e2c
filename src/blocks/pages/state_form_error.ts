import { QuoinError } from '../../shared/errors.ts'
import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'state_form_error',
  title: 'Refuse form',
  summary:
    'Refuses what was sent with a form: the page is shown again with what was typed and the message, and nothing that the flow wrote is kept.',
  in: {
    message: { type: 'value', required: true, help: 'What is wrong, as a whole sentence.' },
    field: { type: 'value', help: 'The input that it is about. Empty: the form as a whole.' },
  },
  out: {},
  settings: {},
  ends: true,
  run(inputs): undefined {
    throw new QuoinError('INVALID_BODY', inputs.message, { fields: inputs.field ? [inputs.field] : [] })
  },
})
