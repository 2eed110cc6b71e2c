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
  'extensions',
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
  'applications',
  'drafts',
  'signin_providers',
  'scim',
  'spaces',
] as const

const verbs = ['view', 'create', 'update', 'remove'] as const

interface Worth {
  /** Where it is granted, and in docs/access.md. */
  readonly meaning: string
  /** A user who holds it can obtain every other one. */
  readonly equalsAdministrator: boolean
}

/** Scopes beside those of a resource and a verb. */
const special = {
  blueprinttemplates_script: {
    meaning:
      'May set the JavaScript of page templates, which runs in the browser of every visitor, on the same origin as the studio, and can do what the visitor can. Equals administrator rights.',
    equalsAdministrator: true,
  },
  blueprints_account_pages: {
    meaning:
      'May deploy or roll back blueprints that have the page login, logout, password, password/forgot, password/set, login/new, login/code, password/app or password/passkeys, in any case of letters, and write the page template `sign-in`. Their flows see typed passwords. Equals administrator rights.',
    equalsAdministrator: true,
  },
  backups_download: {
    meaning:
      'May download backups: every document and file, rules or not, and the hashes of passwords and tokens. Equals administrator rights.',
    equalsAdministrator: true,
  },
  storages_rules: {
    meaning:
      'May set the rules of storages and of their fields (rules, visible_to, settable_by), and is not bound by them: sees and changes every document.',
    equalsAdministrator: false,
  },
  runs_view: {
    meaning:
      'May view traced runs, with the data of the users who sent the requests, together with blueprints_view and blueprintactions_view.',
    equalsAdministrator: false,
  },
  settings_network: {
    meaning:
      'May change QUOIN_ALLOWED_HOSTS, together with settings_update: flows can then call servers of the private network, this machine included.',
    equalsAdministrator: false,
  },
  applications_approve: {
    meaning:
      'May approve and reject pushes of other users, where QUOIN_PUSH_APPROVAL asks for a second person. What is pushed is released with the scopes of its author.',
    equalsAdministrator: false,
  },
  agents_deploy: {
    meaning:
      'An API key with it may push drafts, together with applications_update. Without it an agent changes drafts only, and a person pushes them.',
    equalsAdministrator: false,
  },
  assistant_use: {
    meaning:
      'May describe what is needed to the model of QUOIN_ASSISTANT_CONNECTION, together with drafts_create: sends it the definitions that the holder may see, and spends its tokens.',
    equalsAdministrator: false,
  },
} as const satisfies Record<string, Worth>

/** Scopes of a resource and a verb that allow more than they say. */
const underrated: Readonly<Record<string, string>> = {
  assets_view: 'May download every file, also those of documents and endpoints that the holder may not see.',
  auditlogs_view: 'Sees each change with the values before and after it, of every kind of record.',
  blueprints_update:
    'May deploy flows. A flow reads and changes every document, uses every secret by its name and may send what it reads to other servers.',
  blueprintfields_create: 'May add computed fields, which show what they compute of hidden fields.',
  blueprintfields_update:
    'May change computed fields, which show what they compute of hidden fields, and learns by checks which stored values fit a rule.',
  connections_create:
    'May choose servers to which flows send data. Together with secrets_update, it reads secrets: they are sent to a server of the holder.',
  connections_update:
    'May choose servers to which flows send data. Together with secrets_update, it reads secrets: they are sent to a server of the holder.',
  environment_update:
    'Changes values that deployed flows use, such as addresses and limits, without a deploy.',
  extensions_update:
    'May switch on extensions of the folder QUOIN_BLOCKS. Their code reads and changes the storages that it names, whatever the holder may see, and sends to the hosts that it names.',
  queue_view: 'Sees jobs with the data that flows gave them, also of other users.',
  signin_providers_create:
    'May add providers that say who a user is: signs in as any user whose address is confirmed. Equals administrator rights.',
  signin_providers_update:
    'May change providers that say who a user is: signs in as any user whose address is confirmed. Equals administrator rights.',
  scim_create: 'May create users and groups with SCIM, with any name and address that is free.',
  scim_update:
    'May change names, addresses and accounts of users whose scopes the owner of the key has, and so act as them; not of administrators. May fill groups whose scopes the owner has.',
  scim_view: 'Sees name, address and groups of every user.',
  secrets_update:
    'May change to which hosts a secret is sent. Together with a scope to change connections, it reads secrets.',
  settings_update:
    'May switch off what keeps the cluster from being overloaded: the rate limit, attempts to sign in, the size of bodies, deadlines of runs.',
  spaces_create: 'May make spaces, each with a database of its own on this cluster.',
  spaces_remove: 'May delete a space with all of its data, its backups included.',
  spaces_update: 'May suspend spaces, and choose by which hosts they are reached.',
  systemlogs_view: 'Sees what flows log, with values of requests of other users.',
  users_update:
    'May set the password of users whose scopes the holder has, make API keys for them and end their sessions: acts as each of them.',
  waits_update: 'May continue every waiting run: also decide approvals that name other scopes.',
}

export type ManagementResource = (typeof resources)[number]
export type ManagementScope = `${ManagementResource}_${(typeof verbs)[number]}` | keyof typeof special

/** Also those that no endpoint asks for yet: a resource has all four. */
export const managementScopes: readonly string[] = resources
  .flatMap((resource) => verbs.map((verb) => `${resource}_${verb}`))
  .concat(Object.keys(special))

/** What each folder of an application may hold; reading one needs all of them. What only some have needs more: `shownContent`. */
export const readScopes = [
  'blueprints_view',
  'blueprintactions_view',
  'blueprintfields_view',
  'blueprinttemplates_view',
  'storages_view',
] as const satisfies readonly ManagementScope[]

/** What shows one by one what a folder of an application holds: changing a folder needs all of them. */
export const folderScopes = [
  ...readScopes,
  'authentication_groups_view',
] as const satisfies readonly ManagementScope[]

/** Scopes to build drafts: what an agent gets that asks for no scopes. */
export const draftScopes: readonly string[] = [
  ...folderScopes,
  'drafts_view',
  'drafts_create',
  'drafts_remove',
]

/** Scopes that need care where they are granted, those that equal administrator rights first. */
export const scopesWithCare: readonly (readonly [string, Worth])[] = [
  ...Object.entries<Worth>(special),
  ...Object.entries(underrated).map(
    ([scope, meaning]) =>
      [scope, { meaning, equalsAdministrator: meaning.endsWith('Equals administrator rights.') }] as const,
  ),
]

/** What a scope allows that its name does not say; undefined for the others. */
export function meaningOfScope(scope: string): string | undefined {
  return worthOf(scope)?.meaning
}

/** Whether a user who holds the scope can obtain every other one. */
export function equalsAdministrator(scope: string): boolean {
  return scope === '*' || worthOf(scope)?.equalsAdministrator === true
}

function worthOf(scope: string): Worth | undefined {
  return scopesWithCare.find(([name]) => name === scope)?.[1]
}
