/** What management endpoints are about; with a verb it is the scope that opens them. */
const resources = [
  'blueprints',
  'blueprintactions',
  'blueprintfields',
  'blueprinttemplates',
  'blueprintvalidation',
  'users',
  'authentication_groups',
  'userlogs',
  'storages',
  'assets',
  'systemlogs',
  'auditlogs',
  'queue',
  'nodes',
] as const

const verbs = ['view', 'create', 'update', 'remove'] as const

export type ManagementScope = `${(typeof resources)[number]}_${(typeof verbs)[number]}`

/** Also those that no endpoint asks for yet: a resource has all four. */
export const managementScopes: readonly string[] = resources.flatMap((resource) =>
  verbs.map((verb) => `${resource}_${verb}`),
)
