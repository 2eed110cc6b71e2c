/**
 * What two triggers may not share: the method and the URI with the parameters' names left out, since `tasks/{guid}` and
 * `tasks/{id}` are the same place.
 */
export function routeKey(route: { readonly method: string; readonly uri: string }): string {
  return `${route.method} ${route.uri.replace(/\{[^}.]+\}/g, '{}').replace(/\{[^}]+\.\.\.\}/g, '{...}')}`
}
