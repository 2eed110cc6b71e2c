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
