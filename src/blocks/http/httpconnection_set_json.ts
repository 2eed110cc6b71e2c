import { defineFlow } from '../block.ts'
import { replyHeaders } from './reply-headers.ts'

/** Replies with these codes have no body. */
const BODILESS = new Set([204, 205, 304])

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
    headers: {
      type: 'object',
      help: 'More headers of the reply, by name. Refused are cookies, other content types than JSON, headers of the connection, of CORS, for the whole site (clear-site-data) and for the reverse proxy (x-accel-…): of another server’s headers, pick those to pass on.',
    },
  },
  out: {},
  settings: {},
  check({ headers }) {
    replyHeaders(headers)
  },
  run({ code, value, headers: given }, context) {
    const headers = replyHeaders(given)
    context.reply({ code, value: BODILESS.has(code) ? undefined : (value ?? null), headers })
    return undefined
  },
})
