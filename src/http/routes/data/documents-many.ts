import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { changeStored, type StoredChange } from '../../../flows/background/change-stored.ts'
import { type RevertedFields, revertFields } from '../../../records/documents/revert-fields.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { type StorageContext, storageNamed } from '../../../records/storage-records.ts'
import {
  manySchema,
  putBackReplySchema,
  putBackSchema,
  removeManySchema,
  restoreManySchema,
  updateManySchema,
} from '../../../shared/api/data/documents.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { setFields } from '../../../shared/mutation.ts'
import type { Query } from '../../../shared/query.ts'
import { restoring } from '../../../storage/many/many-change.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { asCaller, callerSubject } from './as-caller.ts'
import { documentSearch } from './document-search.ts'

const tags = ['Documents']
const path = '/_system/storages/:guid/documents'

const description =
  'Named by `guids`, or all that match `filters` and `query`; `{}` as `filters` is all documents. At most 1,000 in one transaction, all of them or none, unless `in_background` is given. Rules, unique fields, references, events and history count as with single changes.'

const errors = ['CONFLICT', 'INVALID_QUERY', 'DENIED_BY_RULE'] satisfies FastifyContextConfig['errors']

/** The same change to many documents of a builder's storage. */
export function manyDocumentRoutes(
  context: StorageContext,
  permissions: Permissions,
  newGuid: () => string,
): RouteFamily {
  const shared = sharedParts(context, permissions, newGuid)
  return (app) => {
    updateManyDocumentsRoute(app, shared)
    removeManyDocumentsRoute(app, shared)
    restoreManyDocumentsRoute(app, shared)
    putBackDocumentsRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(context: StorageContext, permissions: Permissions, newGuid: () => string) {
  const change = async (request: FastifyRequest, storage: string, requested: StoredChange) => {
    if (requested.inBackground) await refuseJob(context, permissions, request, storage)
    const as = { by: actorOf(request), run: newGuid() }
    return changeStored(asCaller(context, permissions, request), storage, requested, as)
  }
  const put = async (request: FastifyRequest, storage: string, requested: RevertedFields) => {
    const as = { by: actorOf(request), run: newGuid() }
    const { left, ...done } = await revertFields(
      asCaller(context, permissions, request),
      storage,
      requested,
      as,
    )
    return { ...done, left: left.map(({ fields, ...one }) => ({ ...one, fields: [...fields] })) }
  }
  return { change, put }
}

function updateManyDocumentsRoute(app: App, { change }: SharedParts): void {
  app.post(
    `${path}/update-many`,
    {
      config: { permission: 'storages_update', bodyBytes: 'setting', documentBody: true, errors },
      schema: {
        operationId: 'updateManyDocuments',
        summary: 'Change many documents',
        description,
        tags,
        params: guidParams,
        body: updateManySchema,
        response: { 200: manySchema },
      },
    },
    (request) => {
      const { set, in_background: inBackground = false } = request.body
      const { _meta, ...fields } = set
      const requested = { kind: 'update', query: matching(request.body), includeRemoved: false } as const
      return change(request, request.params.guid, {
        ...requested,
        mutations: setFields(fields),
        inBackground,
      })
    },
  )
}

function removeManyDocumentsRoute(app: App, { change }: SharedParts): void {
  app.post(
    `${path}/remove-many`,
    {
      config: { permission: 'storages_remove', errors },
      schema: {
        operationId: 'removeManyDocuments',
        summary: 'Remove many documents',
        description,
        tags,
        params: guidParams,
        body: removeManySchema,
        response: { 200: manySchema },
      },
    },
    (request) => {
      const { hard = false, include_removed = false, in_background: inBackground = false } = request.body
      const requested = { kind: hard ? 'delete' : 'remove', mutations: [], inBackground } as const
      const query = matching(request.body)
      return change(request, request.params.guid, {
        ...requested,
        query,
        includeRemoved: hard && include_removed,
      })
    },
  )
}

function restoreManyDocumentsRoute(app: App, { change }: SharedParts): void {
  app.post(
    `${path}/restore-many`,
    {
      config: { permission: 'storages_update', errors },
      schema: {
        operationId: 'restoreManyDocuments',
        summary: 'Restore many removed documents',
        description: `${description} Where some cannot be restored, because a unique value is taken by now or they refer to removed documents, the reply is 409 and \`details\` lists them.`,
        tags,
        params: guidParams,
        body: restoreManySchema,
        response: { 200: manySchema },
      },
    },
    (request) => {
      const { in_background: inBackground = false } = request.body
      const requested = restoring('', matching(request.body))
      return change(request, request.params.guid, { ...requested, inBackground })
    },
  )
}

function putBackDocumentsRoute(app: App, { put }: SharedParts): void {
  app.post(
    `${path}/put-back`,
    {
      config: { permission: 'storages_update', bodyBytes: 'setting', documentBody: true, errors },
      schema: {
        operationId: 'putBackDocuments',
        summary: 'Put former values back in many documents',
        description:
          'For undo and redo: at most 1,000 documents, each named once, in one transaction. What others have changed since stays as it is and is in `left`, as are documents whose change a rule refuses; where a permission of the storage refuses one, nothing is changed.',
        tags,
        params: guidParams,
        body: putBackSchema,
        response: { 200: putBackReplySchema },
      },
    },
    (request) => {
      const { changes = [], restore = [] } = request.body
      return put(request, request.params.guid, { changes, restore })
    },
  )
}

/** A job works for the application: it would change what the rules of the storage keep from the caller. */
async function refuseJob(
  context: StorageContext,
  permissions: Permissions,
  request: FastifyRequest,
  storage: string,
): Promise<void> {
  if (!callerSubject(request).bound || !(await permissions.counts(await storageNamed(context, storage))))
    return
  throw new QuoinError(
    'DENIED_BY_RULE',
    'Documents of a storage with rules are changed at most 1,000 at once by users whom the rules bind. Leave out in_background.',
  )
}

/** What a change is for must be said: a body without it is a mistake, and not a change of all documents. */
function matching({
  guids,
  query,
  filters,
}: Pick<Static<typeof removeManySchema>, 'guids' | 'query' | 'filters'>): Query {
  if (guids === undefined && query === undefined && filters === undefined)
    throw new QuoinError(
      'INVALID_BODY',
      'One of guids, filters and query must be given; {} as filters is all documents.',
      { fields: ['filters'] },
    )
  const found = documentSearch({ ...(query !== undefined && { query }), ...(filters && { filters }) }).query
  if (guids === undefined) return found
  const named: Query = { kind: 'terms', field: '_meta.guid', values: guids }
  return { kind: 'and', queries: [named, found] }
}
