/** What management endpoints are about; with a verb it is the scope that opens them. */
const resources = [
  'blueprints',
  'blueprintactions',
  'blueprintfields',
  'blueprinttemplates',
  'blueprintvalidation',
  'environment',
  'secrets',
  'connections',
  'users',
  'authentication_groups',
  'userlogs',
  'storages',
  'assets',
  'systemlogs',
  'auditlogs',
  'queue',
  'waits',
  'nodes',
  'alerts',
  'settings',
  'backups',
] as const

const verbs = ['view', 'create', 'update', 'remove'] as const

/** Scopes beside those, each with what it means where it is granted. */
const special = {
  blueprinttemplates_script: {
    meaning:
      'May set the JavaScript of page templates, which runs in the browser of every visitor, administrators included. Equals administrator rights.',
    equalsAdministrator: true,
  },
  blueprints_account_pages: {
    meaning:
      'May deploy blueprints that have the page login, logout, password or one of those below them. Their flows see typed passwords. Equals administrator rights.',
    equalsAdministrator: true,
  },
  storages_rules: {
    meaning:
      'May set the rules of storages and of their fields, and is not bound by them: sees and changes every document.',
    equalsAdministrator: false,
  },
  backups_download: {
    meaning:
      'May download backups: every document and file, and the hashes of passwords and tokens. Treat it as administrator rights.',
    equalsAdministrator: true,
  },
  runs_view: {
    meaning: 'May view traced runs, with the data of the users who sent the requests.',
    equalsAdministrator: false,
  },
} as const

export type ManagementResource = (typeof resources)[number]
export type ManagementScope = `${ManagementResource}_${(typeof verbs)[number]}` | keyof typeof special

/** Also those that no endpoint asks for yet: a resource has all four. */
export const managementScopes: readonly string[] = resources
  .flatMap((resource) => verbs.map((verb) => `${resource}_${verb}`))
  .concat(Object.keys(special))

/** What a special scope means; undefined for those that are a resource and a verb. */
export function meaningOfSpecial(scope: string): string | undefined {
  return entryOf(scope)?.meaning
}

/** Whether a user who holds the scope can obtain every other one. */
export function equalsAdministrator(scope: string): boolean {
  return scope === '*' || entryOf(scope)?.equalsAdministrator === true
}

function entryOf(scope: string): (typeof special)[keyof typeof special] | undefined {
  return Object.entries(special).find(([name]) => name === scope)?.[1]
}
