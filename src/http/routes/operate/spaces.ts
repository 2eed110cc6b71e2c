import type { Actor } from '../../../records/records.ts'
import {
  createdSpaceSchema,
  createSpaceSchema,
  removeSpaceQuery,
  type SpaceHealth,
  type SpaceQuotas,
  type SpaceUsage,
  spaceBackupSchema,
  spaceHealthSchema,
  spaceSchema,
  spaceUsageSchema,
  updateSpaceSchema,
} from '../../../shared/api/operate/spaces.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { invalidField } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { Database } from '../../../storage/database.ts'
import { guidOf, textsIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Spaces']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'title', type: 'string', text: true },
  { name: 'hosts', type: 'string', text: true },
  { name: 'state', type: 'string' },
]

export interface CreatedSpace {
  readonly space: JsonObject
  /** `password`: only where it was generated and is told. */
  readonly administrator: { readonly username: string; readonly password: string | null }
}

/** Of neither a random password is made. */
export interface FirstUser {
  readonly password?: string
  /** Is invited there. */
  readonly email?: string
}

export interface SpaceUpdate {
  readonly title?: string
  readonly hosts?: readonly string[]
  readonly quotas?: Partial<SpaceQuotas>
  readonly suspended?: boolean
}

/** What an operator does with spaces. */
export interface ManagedSpaces {
  get(guid: string): Promise<JsonObject>
  create(
    input: { readonly name: string; readonly hosts: readonly string[] } & Pick<
      SpaceUpdate,
      'title' | 'quotas'
    >,
    first: FirstUser,
    by: Actor,
  ): Promise<CreatedSpace>
  update(guid: string, changes: SpaceUpdate, by: Actor): Promise<JsonObject>
  /** Permanently, with all data. INVALID_BODY where `confirm` is not its name. */
  remove(guid: string, confirm: string, by: Actor): Promise<void>
  /** Opens the space, if it is not open. */
  usage(guid: string): Promise<SpaceUsage>
  /** Opens the space, if it is not open and can be. Nothing of it but guids, times and counts. */
  health(guid: string): Promise<SpaceHealth>
  /** Whether it could not be opened or deleted here when that was tried last. */
  isFailing(guid: string): boolean
  /** How many are so. */
  failing(): number
  /** Begins one. */
  backup(guid: string): Promise<{ readonly name: string; readonly folder: string }>
}

const shownBy = (spaces: ManagedSpaces) => (record: JsonObject) => ({
  ...record,
  open: textsIn(record.nodes).length > 0,
  broken: spaces.isFailing(guidOf(record)),
})

/** Of the operator only: a space has no spaces. */
export function spaceRoutes(spaces: ManagedSpaces, database: Database): RouteFamily {
  const shown = shownBy(spaces)
  return (app) => {
    const all = resource(app, {
      path: '/_system/spaces',
      scopes: 'spaces',
      tags,
      record: spaceSchema,
      searchable,
    })
    all.list({ operationId: 'searchSpaces', summary: 'List spaces' }, async (requested) => {
      const page = await findPage(database.session(), systemStorages.spaces, requested)
      return { ...page, records: page.records.map(shown) }
    })
    all.get({ operationId: 'getSpace', summary: 'One space' }, async (guid) => shown(await spaces.get(guid)))
    all.update(
      {
        operationId: 'updateSpace',
        summary: 'Change or suspend a space',
        description:
          'With another title or first host the space is opened again. CONFLICT for a host of another space.',
        errors: ['CONFLICT'],
        confirmed: true,
        body: updateSpaceSchema,
      },
      async (guid, body, request) => shown(await spaces.update(guid, body, actorOf(request))),
    )
    createSpaceRoute(app, spaces)
    removeSpaceRoute(app, spaces)
    backupSpaceRoute(app, spaces)
    spaceUsageRoute(app, spaces)
    spaceHealthRoute(app, spaces)
  }
}

function createSpaceRoute(app: App, spaces: ManagedSpaces): void {
  app.post(
    '/_system/spaces',
    {
      config: { permission: 'spaces_create', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'createSpace',
        summary: 'Make a space',
        description:
          'A database of its own with its first administrator, reached by its hosts. CONFLICT for a name or host that is taken.',
        tags,
        body: createSpaceSchema,
        response: { 200: createdSpaceSchema },
      },
    },
    async (request) => {
      const { password, email, ...input } = request.body
      if (password !== undefined && email !== undefined)
        throw invalidField(
          'email',
          'email and password cannot be given both: who is invited sets a password.',
        )
      const first = { ...(password !== undefined && { password }), ...(email !== undefined && { email }) }
      const { space, administrator } = await spaces.create(input, first, actorOf(request))
      return { space: shownBy(spaces)(space), administrator }
    },
  )
}

function removeSpaceRoute(app: App, spaces: ManagedSpaces): void {
  app.delete(
    '/_system/spaces/:guid',
    {
      config: { permission: 'spaces_remove', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'removeSpace',
        summary: 'Delete a space with all of its data',
        description:
          'Permanently: database, files and the backups in its folder. Make a backup first and copy it elsewhere.',
        tags,
        params: guidParams,
        querystring: removeSpaceQuery,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      await spaces.remove(guid, request.query.confirm, actorOf(request))
      return { guid, removed: true } as const
    },
  )
}

function backupSpaceRoute(app: App, spaces: ManagedSpaces): void {
  app.post(
    '/_system/spaces/:guid/backup',
    {
      config: { permission: 'spaces_update', errors: ['CONFLICT', 'UNAVAILABLE'] },
      schema: {
        operationId: 'backupSpace',
        summary: 'Make a backup of a space',
        description:
          'Begins one, of every write that was acknowledged before. It is listed in the space. CONFLICT while another one of the space is made, and on PostgreSQL.',
        tags,
        params: guidParams,
        response: { 200: spaceBackupSchema },
      },
    },
    (request) => spaces.backup(request.params.guid),
  )
}

function spaceUsageRoute(app: App, spaces: ManagedSpaces): void {
  app.get(
    '/_system/spaces/:guid/usage',
    {
      config: { permission: 'spaces_view', entityTag: false, errors: ['UNAVAILABLE'] },
      schema: {
        operationId: 'readSpaceUsage',
        summary: 'What a space stores and runs',
        description: 'Counted now: the space is opened if it is closed. Its quotas are in its record.',
        tags,
        params: guidParams,
        response: { 200: spaceUsageSchema },
      },
    },
    (request) => spaces.usage(request.params.guid),
  )
}

function spaceHealthRoute(app: App, spaces: ManagedSpaces): void {
  app.get(
    '/_system/spaces/:guid/health',
    {
      config: { permission: 'spaces_view', entityTag: false, errors: ['UNAVAILABLE'] },
      schema: {
        operationId: 'readSpaceHealth',
        summary: 'Whether a space works, and what failed in it',
        description:
          'Asked now: the space is opened if it is closed and active. It says what failed, where and when, by guids; nothing that users or flows of the space have written. UNAVAILABLE when there is no place to open it.',
        tags,
        params: guidParams,
        response: { 200: spaceHealthSchema },
      },
    },
    async (request) => {
      const { failed_jobs, problems, ...rest } = await spaces.health(request.params.guid)
      return { ...rest, failed_jobs: [...failed_jobs], problems: [...problems] }
    },
  )
}
