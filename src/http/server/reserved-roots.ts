/**
 * First segments of paths under /api/v1 that are Quoin's own, those of later versions included. A blueprint cannot
 * register a URI that starts with one. `server` checks at start that every route of ours is under one of them.
 */
export const reservedRoots: ReadonlySet<string> = new Set([
  '_system',
  '_hooks',
  'auth',
  'blocks',
  'blueprintactions',
  'blueprintfields',
  'blueprints',
  'blueprinttemplates',
  'info',
  'openapi.json',
  'queue',
  'queues',
  'runs',
  'studio',
  'users',
])
