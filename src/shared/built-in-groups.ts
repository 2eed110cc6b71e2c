/** Groups that a new cluster has: lists of scopes that people understand. After that they are groups as any other. */
import { managementScopes } from './management-scopes.ts'

export interface BuiltInGroup {
  readonly name: string
  readonly description: string
  readonly scopes: readonly string[]
}

function allOf(...resources: readonly string[]): readonly string[] {
  return resources.flatMap((resource) => verbsOf(resource, 'view', 'create', 'update', 'remove'))
}

function viewOf(...resources: readonly string[]): readonly string[] {
  return resources.flatMap((resource) => verbsOf(resource, 'view'))
}

function verbsOf(resource: string, ...verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `${resource}_${verb}`)
}

const whatIsBuilt = [
  ...['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'blueprintvalidation'],
  ...['applications', 'drafts'],
] as const

/** In the order of `managementScopes`. */
function sorted(...scopes: readonly (readonly string[])[]): readonly string[] {
  const chosen = new Set(scopes.flat())
  return managementScopes.filter((scope) => chosen.has(scope))
}

/** None but `owner` has a scope that equals administrator rights. */
export function builtInGroups(): readonly BuiltInGroup[] {
  return [
    {
      name: 'owner',
      description: 'May do everything.',
      scopes: ['*'],
    },
    {
      name: 'developer',
      description: 'Builds and deploys blueprints, applications, fields and storages, and looks for faults.',
      scopes: sorted(
        allOf(...whatIsBuilt, 'storages', 'assets'),
        ['environment_view', 'environment_create', 'environment_update'],
        viewOf('secrets', 'connections', 'systemlogs', 'queue', 'waits', 'nodes', 'alerts', 'settings'),
        ['runs_view', 'storages_rules'],
      ),
    },
    {
      name: 'operator',
      description:
        'Keeps the cluster running: queues, alerts, settings, backups and logs. Builds nothing and changes no user.',
      scopes: sorted(
        viewOf(
          ...whatIsBuilt,
          'storages',
          'environment',
          'secrets',
          'connections',
          'users',
          'authentication_groups',
        ),
        viewOf('userlogs', 'systemlogs', 'auditlogs', 'waits', 'nodes', 'backups'),
        allOf('queue', 'alerts'),
        ['environment_update', 'settings_view', 'settings_update', 'backups_create', 'runs_view'],
      ),
    },
    {
      name: 'editor',
      description:
        'Works with documents and files, as far as the rules of storages allow. Storages too: their scopes are the same.',
      scopes: sorted(allOf('storages', 'assets'), viewOf('blueprintfields')),
    },
    {
      name: 'viewer',
      description: 'Looks at what is built and at documents, and changes nothing.',
      scopes: sorted(viewOf(...whatIsBuilt, 'storages', 'environment', 'connections', 'alerts', 'nodes')),
    },
  ]
}
