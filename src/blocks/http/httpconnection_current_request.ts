import type { JsonObject } from '../../shared/json.ts'
import { defineValue } from '../block.ts'
import type { RunRequest } from '../run-request.ts'

export default defineValue({
  identifier: 'httpconnection_current_request',
  title: 'Current request',
  summary:
    'The request that started the flow: method, address, headers, body and user. All empty in flows without a request.',
  readsRun: true,
  fromRequest: true,
  in: {},
  out: {
    connection: { type: 'connection', help: 'The request itself, for blocks with a connection pin.' },
    method: { type: 'value', help: 'GET, POST, PUT or DELETE.' },
    url: { type: 'value', help: 'Path and query as received, such as /api/v1/tasks?status=open.' },
    headers: {
      type: 'object',
      help: 'Headers by name, in lower case. A repeated header is a list.',
    },
    ip: { type: 'value', help: 'IP address of the client.' },
    body: { type: 'any', help: 'The JSON body. Empty without a body.' },
    user: { type: 'user', help: 'The signed-in user. Empty for anonymous callers.' },
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
