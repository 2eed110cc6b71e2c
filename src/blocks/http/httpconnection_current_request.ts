import type { JsonObject } from '../../shared/json.ts'
import { defineValue } from '../block.ts'
import type { RunRequest } from '../run-request.ts'

export default defineValue({
  identifier: 'httpconnection_current_request',
  title: 'Current request',
  summary:
    'The request that started the flow: method, address, headers, body and who sent it. All empty in flows that no request started.',
  readsRun: true,
  fromRequest: true,
  in: {},
  out: {
    connection: { type: 'connection', help: 'The request itself, for blocks that ask for a connection.' },
    method: { type: 'value', help: 'GET, POST, PUT or DELETE.' },
    url: { type: 'value', help: 'Path and query as they were sent, such as /api/v1/tasks?status=open.' },
    headers: {
      type: 'object',
      help: 'The headers by name, in lower case. One that was sent several times is a list.',
    },
    ip: { type: 'value', help: 'The address of whoever sent the request.' },
    body: { type: 'any', help: 'The JSON that was sent. Empty when there was none.' },
    user: { type: 'user', help: 'The signed-in user. Empty when nobody is signed in.' },
  },
  settings: {},
  value(_inputs, context) {
    const { request } = context
    if (!request) return {}
    const { method, url, ip, body, user } = request
    const headers = context.wired('headers') ? headersOf(request) : undefined
    return { connection: request, method, url, headers, ip, body, user }
  },
})

function headersOf(request: RunRequest): JsonObject {
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = value
  return headers
}
