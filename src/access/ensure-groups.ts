/**
 * The groups that a cluster begins with, made once: a group that is removed does not come back. A cluster from before
 * gets those whose names are free at its first start with this version.
 */

import { passkeySite } from '../identity/passkey-challenge.ts'
import { managementScopes } from '../shared/management-scopes.ts'
import { setFields } from '../shared/mutation.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, takeTurn } from './access-context.ts'
import { folded } from './visible-text.ts'

/** Groups that a new cluster has: lists of scopes that people understand. After that they are groups as any other. */
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
        // The folder of an application, and so a draft of it, shows `groups.json`.
        ['authentication_groups_view', 'runs_view', 'storages_rules'],
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

/** Of the document that says that they were made. */
const MADE = 'built-in groups'

/** Days that the administrators of a new cluster have to set up a second factor. */
const OWNER_DAYS = 7

/** Nodes that start together make each once. `protect`: the group `owner` requires a second factor, where users can set one up: an app needs a key, a passkey a host name. */
export async function ensureBuiltInGroups(
  { database, turnGuid, settings }: AccessContext,
  protect: boolean,
): Promise<void> {
  const { secretKeys, publicUrl = '' } = settings
  const canSetUp = secretKeys?.current !== undefined || typeof passkeySite(publicUrl) !== 'string'
  const days = protect && canSetUp ? OWNER_DAYS : null
  const { accessTurns, groups } = systemStorages
  if (await findOne(database.session(), accessTurns, 'name', MADE)) return
  await transact(database, async (session) => {
    await takeTurn(session, turnGuid)
    if (await findOne(session, accessTurns, 'name', MADE)) return
    for (const { name, description, scopes } of builtInGroups()) {
      const name_key = folded(name)
      if (await findOne(session, groups, 'name_key', name_key)) continue
      const fields = {
        name,
        name_key,
        description,
        scopes: [...scopes],
        is_active: true,
        second_factor_days: name === 'owner' ? days : null,
      }
      await session.create(groups, setFields(fields))
    }
    await session.create(accessTurns, setFields({ name: MADE, changes: 1 }))
  })
}
