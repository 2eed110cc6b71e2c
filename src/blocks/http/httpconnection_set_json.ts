import { defineFlow, PinError } from '../block.ts'
import { checkHeaders } from '../check-headers.ts'

/** Replies with these codes have no body. */
const BODILESS = new Set([204, 205, 304])
/** Cookies are how a browser stays signed in: only the sign-in sets them. */
const REFUSED = ['set-cookie']
const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i

export default defineFlow({
  identifier: 'httpconnection_set_json',
  title: 'Reply with JSON',
  summary: 'Answers the request with a status code and a value as JSON. The flow goes on after it.',
  repeatable: true,
  in: {
    connection: {
      type: 'connection',
      help: 'The request to answer. Not needed: it is the one that started the flow.',
    },
    code: {
      type: 'number',
      default: 200,
      min: 200,
      max: 599,
      integer: true,
      help: 'The status code: 200 for fine, 201 for created, 400 for a wrong request, 404 for not found.',
    },
    value: {
      type: 'any',
      raw: true,
      help: 'What to send: an object, a list, documents, text. Empty: null. Codes 204, 205 and 304 send nothing.',
    },
    headers: { type: 'object', help: 'More headers of the reply, by name.' },
  },
  out: {},
  settings: {},
  run({ code, value, headers: given }, context) {
    const headers = checkHeaders(given, REFUSED)
    const type = headers['content-type']
    // As text/html, text that somebody else wrote would run as a page of this site.
    if (type !== undefined && !JSON_TYPE.test(type))
      throw new PinError('headers', 'must keep a JSON content-type')
    context.reply({ code, value: BODILESS.has(code) ? undefined : (value ?? null), headers })
    return undefined
  },
})
