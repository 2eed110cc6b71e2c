import { isJsonObject, isLargerThan } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow, PinError } from '../block.ts'
import { versionIn, waitSettings, waitTime } from '../pins/wait-time.ts'
import { publicAddresses } from './public-addresses.ts'

const MOST_SCOPES = 20
const LONGEST = { title: 200, text: 10_000 }
const MOST_FIELDS = 50
const MOST_CHARACTERS = 50_000

export default defineFlow({
  identifier: 'wait_for_approval',
  title: 'Wait for approval',
  words: 'Wait for approval of {title}[ for {for}]',
  summary:
    'Continues when a person approves or rejects, on a page that Quoin shows: signed in with one of the scopes, or by the link. The run is stored in its own transaction.',
  effects: { sends: ['job'] },
  ends: true,
  waits: ['approved', 'rejected', 'timeout'],
  publicAddresses: ['page_url', 'link_url'],
  in: {
    title: {
      type: 'value',
      required: true,
      help: 'What is to be decided, such as "Order of 5,000 €": at most 200 characters.',
    },
    text: { type: 'value', help: 'More about it. Line breaks stay.' },
    fields: { type: 'object', help: 'Values that the page lists, each under its name: at most 50.' },
    scopes: {
      type: 'array',
      help: 'Users who hold one of these scopes may decide; "*loggedin": every signed-in user. Empty: only holders of the link.',
    },
    for: { type: 'value', help: 'How long: seconds, or 30s, 5m, 2h, 1d. Then the run continues at timeout.' },
    until: { type: 'date', help: 'Until when. Without for and until, it waits until it is decided.' },
  },
  out: {
    approved: { type: 'flow', help: 'Continues here, later, when it was approved.' },
    rejected: { type: 'flow', help: 'Continues here, later, when it was rejected.' },
    timeout: { type: 'flow', help: 'Continues here when its time is over and nothing was decided.' },
    now: {
      type: 'flow',
      help: 'Goes on at once in the present run, which ends without waiting: for a mail with the link, and a reply.',
    },
    page: { type: 'value', help: 'At now: path of the page, for users who hold one of the scopes.' },
    link: {
      type: 'value',
      help: 'At now: path of the page with a token, which admits its holder without signing in. Ends with the wait. Only its hash is stored.',
    },
    page_url: {
      type: 'value',
      help: 'At now: page behind QUOIN_PUBLIC_URL, as a mail has it. Fails where that is not set.',
    },
    link_url: {
      type: 'value',
      help: 'At now: link behind QUOIN_PUBLIC_URL, as a mail has it. Fails where that is not set.',
    },
    wait: { type: 'value', help: 'The guid of the wait.' },
    by: {
      type: 'object',
      help: 'Who decided: guid and username. Nothing for a holder of the link who was not signed in.',
    },
    at: { type: 'date', help: 'When it was decided.' },
    comment: { type: 'value', help: 'What was typed as a comment; empty without one.' },
  },
  settings: { version: waitSettings.version },
  check({ scopes }) {
    if (scopes !== undefined) scopeNames(scopes)
  },
  run({ title, text, fields, scopes, for: duration, until }, context) {
    const time = waitTime(duration, until, context.now())
    const names = scopeNames(scopes ?? [])
    const withToken = context.wired('link') || context.wired('link_url')
    if (names.length === 0 && !withToken)
      throw new PinError('scopes', 'must name a scope, or the link must be used: else no one could decide')
    const details = {
      title: bounded('title', title, LONGEST.title),
      text: bounded('text', text ?? '', LONGEST.text),
      fields: boundedFields(fields ?? {}),
    }
    const urlOf = publicAddresses(['page_url', 'link_url'], context)
    const wait = context.wait({
      ...{ kind: 'approval', title: details.title, details, scopes: names, withToken },
      ...(time !== undefined && { until: { time, gives: { next: 'timeout' } } }),
      version: versionIn(context.settings),
    })
    return andThen(wait, ({ guid, token }) => {
      const page = `/_approvals/${guid}`
      const link = token === undefined ? undefined : `${page}?token=${token}`
      return {
        ...{ wait: guid, page, ...urlOf('page_url', page) },
        ...(link !== undefined && { link, ...urlOf('link_url', link) }),
        next: 'now',
      }
    })
  },
})

/** `*public` would let every caller decide who knows the address. */
function scopeNames(scopes: readonly unknown[]): string[] {
  const names = scopes.filter((name) => typeof name === 'string' && name !== '' && name !== '*public')
  if (names.length !== scopes.length || names.length > MOST_SCOPES)
    throw new PinError('scopes', `must be a list of at most ${MOST_SCOPES} names of scopes, without *public`)
  return names.map(String)
}

function bounded(pin: string, text: string, longest: number): string {
  if (text.length > longest)
    throw new PinError(pin, `must be at most ${longest.toLocaleString('en-US')} characters`)
  return text
}

function boundedFields(fields: unknown) {
  const problem = () =>
    new PinError(
      'fields',
      `must be an object with at most ${MOST_FIELDS} values, of 50,000 characters in all`,
    )
  if (!isJsonObject(fields) || Object.keys(fields).length > MOST_FIELDS) throw problem()
  if (isLargerThan(fields, MOST_CHARACTERS, MOST_CHARACTERS)) throw problem()
  return fields
}
