import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { versionIn, waitSettings, waitTime } from '../pins/wait-time.ts'

export default defineFlow({
  identifier: 'wait',
  title: 'Wait',
  words: 'Wait[ for {for}][ until {until}]',
  summary:
    'Continues the run after a time, or at a date, on any node, also after restarts. The run is stored in its own transaction. Behind it the run has no request: reply before, or at now.',
  effects: { sends: ['job'] },
  waits: ['flow'],
  in: {
    for: {
      type: 'value',
      help: 'How long: seconds, or 30s, 5m, 2h, 1d; at most 3,660 days. Not together with until.',
    },
    until: { type: 'date', help: 'When the run continues. A date in the past: at once.' },
  },
  out: {
    now: {
      type: 'flow',
      help: 'Goes on at once in the present run, which ends without waiting: for a reply, for example.',
    },
    wait: { type: 'value', help: 'The guid of the wait: it can be ended or cancelled by it.' },
  },
  settings: waitSettings,
  run({ for: duration, until }, context) {
    const time = waitTime(duration ?? (until ? undefined : ''), until, context.now()) ?? 0
    const title = context.settings.title || `Until ${new Date(time).toISOString()}`
    const version = versionIn(context.settings)
    const wait = context.wait({ kind: 'time', title, until: { time, gives: {} }, version })
    return andThen(wait, ({ guid }) => ({ wait: guid, next: 'now' }))
  },
})
