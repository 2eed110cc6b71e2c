import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'user_current',
  title: 'Current user',
  summary:
    'The user of the run: the sender of the request, or the user who caused the event or the job. Empty for schedules and anonymous callers.',
  readsRun: true,
  in: {},
  out: {
    user: { type: 'user', help: 'The user’s document without secrets. Empty for anonymous callers.' },
    signed_in: { type: 'condition', help: 'Whether the caller is signed in.' },
  },
  settings: {},
  value(_inputs, context) {
    const user = context.request ? context.request.user : context.user
    return { user, signed_in: user !== undefined }
  },
})
