import type { CompiledEndpoint } from './frame.ts'

/**
 * What two triggers may not share: the method and the URI with the parameters' names left out, since `tasks/{guid}` and
 * `tasks/{id}` are the same place.
 */
export function routeKey(route: { readonly method: string; readonly uri: string }): string {
  return `${route.method} ${nameless(route.uri)}`
}

/** The same for pages, which have a space of their own: they do not lie under `/api/v1`. */
export function pageKey(uri: string): string {
  return `page ${nameless(uri)}`
}

function nameless(uri: string): string {
  return uri.replace(/\{[^{}.]+\}/g, '{}').replace(/\{[^{}]+\.\.\.\}/g, '{...}')
}

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
