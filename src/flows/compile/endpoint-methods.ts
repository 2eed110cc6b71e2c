import type { CompiledEndpoint } from './frame.ts'
import { routeKey } from './route-key.ts'

export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const every: readonly EndpointMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that each endpoint answers: one for any method has those that no other endpoint has at its place. */
export function endpointMethods(
  all: readonly Pick<CompiledEndpoint, 'listening'>[],
): (endpoint: Pick<CompiledEndpoint, 'listening'>) => readonly EndpointMethod[] {
  const taken = new Set(all.map(({ listening }) => routeKey(listening)))
  return ({ listening: { method, uri } }) =>
    method === 'ANY' ? every.filter((one) => !taken.has(routeKey({ method: one, uri }))) : [method]
}
