import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'user_current',
  title: 'Current user',
  summary:
    'The user for whom the flow runs: who sent the request, or who caused the event or filled the queue. Empty for schedules and for visitors.',
  readsRun: true,
  in: {},
  out: {
    user: { type: 'user', help: 'The user’s document without secrets. Empty when nobody is signed in.' },
    signed_in: { type: 'condition', help: 'Whether there is a user.' },
  },
  settings: {},
  value(_inputs, context) {
    const user = context.request ? context.request.user : context.user
    return { user, signed_in: user !== undefined }
  },
})
