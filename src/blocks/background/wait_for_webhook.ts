import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { versionIn, waitSettings, waitTime } from '../pins/wait-time.ts'
import { publicAddresses } from './public-addresses.ts'

export default defineFlow({
  identifier: 'wait_for_webhook',
  title: 'Wait for webhook',
  words: 'Wait for webhook[ for {for}][ until {until}]',
  summary:
    'Gives an address at now, and continues with what another service sends there by POST. The run is stored in its own transaction.',
  effects: { sends: ['job'] },
  ends: true,
  waits: ['received', 'timeout'],
  publicAddresses: ['url'],
  in: {
    for: { type: 'value', help: 'How long: seconds, or 30s, 5m, 2h, 1d. Then the run continues at timeout.' },
    until: { type: 'date', help: 'Until when. Without for and until, it waits until something is sent.' },
  },
  out: {
    received: { type: 'flow', help: 'Continues here, later, when something was sent to the address.' },
    timeout: { type: 'flow', help: 'Continues here when its time is over and nothing was sent.' },
    now: {
      type: 'flow',
      help: 'Goes on at once in the present run, which ends without waiting: hand over the address there.',
    },
    address: {
      type: 'value',
      help: 'At now: path with a token to which one request may be sent, by POST, as JSON of at most 256 KiB. Only the hash of the token is stored.',
    },
    url: {
      type: 'value',
      help: 'At now: address behind QUOIN_PUBLIC_URL, as another service takes it. Fails where that is not set.',
    },
    wait: { type: 'value', help: 'The guid of the wait.' },
    body: { type: 'any', help: 'What was sent; an empty object if nothing was.' },
    at: { type: 'date', help: 'When it was sent.' },
  },
  settings: waitSettings,
  run({ for: duration, until }, context) {
    const time = waitTime(duration, until, context.now())
    const { title } = context.settings
    const urlOf = publicAddresses(['url'], context)
    const wait = context.wait({
      ...{ kind: 'request', title: title || 'Webhook', withToken: true },
      ...(time !== undefined && { until: { time, gives: { next: 'timeout' } } }),
      version: versionIn(context.settings),
    })
    return andThen(wait, ({ guid, token = '' }) => {
      const address = `/api/v1/_hooks/${guid}?token=${token}`
      return { wait: guid, address, ...urlOf('url', address), next: 'now' }
    })
  },
})
