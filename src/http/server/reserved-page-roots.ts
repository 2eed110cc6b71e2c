/**
 * First segments of paths that are Quoin's own outside of the API. A page cannot have them. `login`, `logout` and
 * `password` are not among them: a blueprint may replace those.
 */
export const reservedPageRoots: ReadonlySet<string> = new Set([
  '_approvals',
  '_pages',
  'api',
  'docs',
  'health',
  'metrics',
  'static',
  'studio',
])
