import { defineFlow } from '../block.ts'
import { replyHeaders } from './reply-headers.ts'

/** Replies with these codes have no body. */
const BODILESS = new Set([204, 205, 304])

export default defineFlow({
  identifier: 'httpconnection_set_json',
  title: 'Reply with JSON',
  words: 'Reply[ {code}][ {value}]',
  summary:
    'Replies to the request with a status code and a value as JSON. The flow continues after the reply.',
  effects: { cacheable: true },
  in: {
    connection: {
      type: 'connection',
      help: 'The request to reply to. Default: the one that started the flow.',
    },
    code: {
      type: 'number',
      default: 200,
      min: 200,
      max: 599,
      integer: true,
      help: 'Status code: 200 OK, 201 created, 400 bad request, 404 not found.',
    },
    value: {
      type: 'any',
      raw: true,
      help: 'The body: an object, a list, documents or text. Empty: null. Status codes 204, 205 and 304 have no body.',
    },
    headers: {
      type: 'object',
      help: 'Further headers of the reply, by name. Refused: cookies, content types other than JSON, headers of the connection, of CORS, for the whole site (clear-site-data) and for the reverse proxy (x-accel-…). To forward headers of another server, select them by name.',
    },
  },
  out: {},
  settings: {},
  check({ headers }) {
    replyHeaders(headers)
  },
  run({ code, value, headers: input }, context) {
    const headers = replyHeaders(input)
    context.reply({ code, value: BODILESS.has(code) ? undefined : (value ?? null), headers })
    return undefined
  },
})
