/** What Quoin itself may answer at a custom endpoint in place of its flow, by status. */

import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import type { EndpointMethod } from '../../flows/compile/read-triggers.ts'
import type { ApiResponse, ApiSchema } from './open-api-document.ts'

const errorBody: ApiSchema = {
  type: 'object',
  properties: { error: { type: 'string' } },
  required: ['error'],
}

/** Of what a client can set right in its fields. */
const fieldErrorBody: ApiSchema = {
  ...errorBody,
  properties: {
    ...errorBody.properties,
    fields: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The fields at fault, each with what is wrong. Absent where no field is.',
    },
  },
}

/** What Quoin replies instead of the flow, by status. */
const failureTexts: Readonly<Record<string, string>> = {
  '400': 'The request is invalid; `error` names the part.',
  '401': 'The request carries two different access tokens, or a cookie from another site.',
  '404': 'Not found, or the caller has no access.',
  '413': 'The body is larger than the limit.',
  '415': 'The endpoint does not accept the content type of the body.',
  '422':
    'A search of the flow would look at more than it may, or fields that the flow needs were changed since its deploy.',
  '429': 'Too many requests from this address; retry after `retry-after` seconds.',
  '500': 'The flow failed; find it in the system log by `run`.',
  '503': 'The flow took too long, or the node cannot serve now; retry.',
}

/** What ends a request at a way that is not wired. */
const missTexts = {
  not_found: 'The document was not found, or the caller has no access.',
  conflict: 'The document was changed meanwhile, or another one has its unique value; nothing is stored.',
  refused: 'The condition of the change does not hold; nothing is stored.',
  exceeded: 'Too many requests from this address or for one key; retry after `retry-after` seconds.',
}

/** Of flows that store something, a document or a file of the request. */
const STORAGE_FULL = 'The disk is full; nothing is stored. Free some space, and send the request again.'

function missed({ misses, flow, listening }: CompiledEndpoint): Readonly<Record<string, string>> {
  const conflicts = misses.flatMap((miss) =>
    miss === 'conflict' || miss === 'refused' ? missTexts[miss] : [],
  )
  return {
    ...(flow.asUser && { '403': 'A permission of the storage refuses it to the caller.' }),
    ...(misses.includes('not_found') && { '404': missTexts.not_found }),
    ...(conflicts.length > 0 && { '409': conflicts.join(' ') }),
    ...(misses.includes('exceeded') && { '429': missTexts.exceeded }),
    ...((flow.unit ?? flow.writes ?? listening.accepts?.kind === 'multipart') && { '507': STORAGE_FULL }),
  }
}

/** The replies that are no flow's: what Quoin itself may answer at the endpoint. */
export function endpointFailures(
  endpoint: CompiledEndpoint,
  method: EndpointMethod,
  replies: Readonly<Record<string, ApiResponse>>,
  open: boolean,
): Record<string, ApiResponse> {
  const statuses = Object.entries({ ...failureTexts, ...missed(endpoint) }).filter(
    // Others are hidden from callers with a token that cannot be read: 404.
    ([status]) => (hasBody(method) || !/^41[35]$/.test(status)) && (open || status !== '401'),
  )
  return Object.fromEntries(
    statuses.map(([status, description]) => [
      status,
      {
        description,
        content: {
          'application/json': { schema: ['400', '409'].includes(status) ? fieldErrorBody : errorBody },
        },
        ...contentOf(replies[status]),
      },
    ]),
  )
}

export function hasBody(method: EndpointMethod): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

/** What the flow itself replies goes before what Quoin would. */
function contentOf(reply: ApiResponse | undefined): Pick<ApiResponse, 'content'> {
  return reply?.content ? { content: reply.content } : {}
}
