import type { FastifyRequest } from 'fastify'
import type { PageVisit } from '../../blocks/page-visit.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { openHeaders } from '../server/open-headers.ts'
import { pageAddress } from './page-address.ts'

/** What no parameter may be called: it would reach into the prototype of whatever object it is put in. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The request as blocks see it: without anything that opens doors. */
export function pageRequest(
  request: FastifyRequest,
  path: Readonly<Record<string, string>>,
  visit: PageVisit,
): RunRequest {
  const headers = openHeaders(request.headers)
  const address = pageAddress(request.url)
  const names = [...new Set(address.query.keys())].filter((name) => !FORBIDDEN.has(name))
  const query = names.map((name) => {
    const values = address.getAll(name)
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const
  })
  return {
    method: request.method,
    url: address.href,
    headers,
    ip: request.ip,
    query: Object.fromEntries(query),
    path,
    body: undefined,
    user: request.identity?.user,
    ...(request.identity && { scopes: request.identity.scopes }),
    visit,
  }
}
