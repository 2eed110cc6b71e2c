import type { FastifyRequest } from 'fastify'
import { holds } from '../../../access/scopes.ts'
import {
  changeField,
  checkChange,
  endMigration,
  type FieldChanger,
} from '../../../flows/background/change-field.ts'
import { fillField } from '../../../flows/background/fill-field.ts'
import { fieldUses } from '../../../flows/blueprints/field-uses.ts'
import type { Flows } from '../../../flows/flows.ts'
import { fieldsRead } from '../../../records/fields/field-expression.ts'
import { createField, getField, removeField } from '../../../records/fields/field-records.ts'
import { rulesIn } from '../../../records/fields/field-rules.ts'
import {
  checkedFieldSchema,
  checkFieldSchema,
  createFieldSchema,
  fieldSchema,
  filledSchema,
  updateFieldSchema,
} from '../../../shared/api/blueprints/blueprint-fields.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { overlap, parseFieldPath, valueAt } from '../../../shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { type Query, search } from '../../../shared/query.ts'
import { guidOf, objectsIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { ValidatedDatabase } from '../../../storage/validated.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { callerSubject, checkMaySetRules } from '../data/as-caller.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Fields']
/** A field may have 1,000 choices. */
const MOST_BYTES = 256 * 1024

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'type', type: 'string' },
  { name: 'storage', type: 'string' },
  { name: 'blueprint_guid', type: 'string' },
  { name: 'required', type: 'boolean' },
]

/** Blueprint fields: what documents hold, and the rules that every write of them keeps to. */
export function blueprintFieldRoutes(flows: FieldRouteServices): RouteFamily {
  const { database } = flows.records
  return (app) => {
    const fields = fieldResource(app)
    fields.list(
      {
        operationId: 'searchFields',
        summary: 'List blueprint fields',
        description: 'Filter by `storage` to list the fields of its documents.',
      },
      (requested) => findPage(database.session(), systemStorages.fields, requested),
    )
    createFieldRoute(fields, database)
    fields.get({ operationId: 'getField', summary: 'One blueprint field' }, (guid) =>
      getField(database, guid),
    )
    updateFieldRoute(fields, flows)
    checkFieldRoute(app, flows)
    endMigrationRoute(app, flows)
    fillFieldRoute(app, database)
    removeFieldRoute(fields, database)
  }
}

type FieldRouteServices = Pick<Flows, 'records' | 'permissions' | 'environment' | 'live'>
type Fields = ReturnType<typeof fieldResource>

function fieldResource(app: App) {
  return resource(app, {
    path: '/blueprintfields',
    scopes: 'blueprintfields',
    tags,
    record: fieldSchema,
    searchable,
  })
}

function createFieldRoute(fields: Fields, database: ValidatedDatabase): void {
  fields.create(
    {
      operationId: 'createField',
      summary: 'Create a blueprint field',
      description:
        'Its rules apply to every later write. Stored documents are not changed, and may be without the field. A field whose type or rules do not fit the values that they have is refused with 409; `details` lists the first 100 of them, and their number as `total`. A unique field over documents with the same value is refused in the same way, and so is a reference over documents with a value that names no document.',
      errors: ['CONFLICT'],
      bodyBytes: MOST_BYTES,
      body: createFieldSchema,
    },
    async (body, request) => {
      if (isPermitted(body) || (await readsHidden(database, body))) checkMaySetRules(request)
      return createField(database, body, actorOf(request))
    },
  )
}

function updateFieldRoute(fields: Fields, flows: FieldRouteServices): void {
  const { database } = flows.records
  fields.update(
    {
      operationId: 'updateField',
      summary: 'Change a blueprint field',
      description:
        'Changes the given fields; replaces `validation_rules` and `metadata` as a whole. Stored values follow another `name` by a job, and are converted to another `type`: `migration` has the job, and is null again when all documents have followed; up to 1,000 documents are waited for. Both need `storages_update` too. `used_by` names what reads a field that is renamed. Refused with 409 over documents that do not fit, unless `misfits` says what is stored instead; `details` lists the first 100. A field becomes required only if all documents have a value.',
      errors: ['CONFLICT'],
      bodyBytes: MOST_BYTES,
      body: updateFieldSchema,
    },
    async (guid, body, request) => {
      const before = await getField(database, guid)
      if (changesPermissions(before, body) || (await readsHidden(database, body, before)))
        checkMaySetRules(request)
      const isRenamed = body.name !== undefined && body.name !== before.name
      // Before expressions follow.
      const uses = isRenamed ? await usesOf(flows, before) : []
      const changed = await changeField(database, guid, body, changerOf(flows, request))
      return isRenamed ? { ...changed, used_by: uses } : changed
    },
  )
}

function checkFieldRoute(app: App, flows: FieldRouteServices): void {
  app.post(
    '/blueprintfields/:guid/check',
    {
      config: {
        permission: 'blueprintfields_view',
        bodyOptional: true,
        bodyBytes: MOST_BYTES,
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'checkField',
        summary: 'Check a change of a field',
        description:
          'Takes what `PUT` takes, and changes nothing: how many documents have a value, how many would be converted, which do not fit, and what names the field. Without a body it tells what renaming or removing the field concerns; with one it needs `blueprintfields_update`.',
        tags,
        params: guidParams,
        body: checkFieldSchema,
        response: { 200: checkedFieldSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      const { database } = flows.records
      const changer = changerOf(flows, request)
      const change = request.body ?? {}
      // Rule by rule the answers tell what is stored, also in hidden fields.
      if (Object.keys(change).length > 0 && !holds(callerOf(request).scopes, 'blueprintfields_update'))
        throw new QuoinError(
          'INSUFFICIENT_PERMISSIONS',
          'Which documents fit another rule tells what they hold: checking a change needs the scope blueprintfields_update.',
        )
      const { misfits, ...checked } = await checkChange(database, guid, change, changer)
      return {
        ...checked,
        misfits: { total: misfits.total, documents: misfits.documents.map(listed) },
        used_by: await usesOf(flows, await getField(database, guid)),
      }
    },
  )
}

async function usesOf(flows: FieldRouteServices, { storage, name }: JsonObject) {
  if (typeof storage !== 'string' || typeof name !== 'string') return []
  return (await fieldUses(flows, storage, name)).map((use) => ({ ...use }))
}

function listed({ guid, value, problem }: JsonObject) {
  return { guid: String(guid), ...(value !== undefined && { value }), problem: String(problem) }
}

function endMigrationRoute(app: App, flows: FieldRouteServices): void {
  app.delete(
    '/blueprintfields/:guid/migration',
    {
      config: {
        permission: 'blueprintfields_update',
        alsoNeeds: ['storages_update'],
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'endFieldMigration',
        summary: 'Take back the renaming of a field',
        description:
          'While values are copied to the new name: the field keeps its name, and the copies are removed. Of a conversion: the job ends, and what it has not reached stays. 409 once the new name counts.',
        tags,
        params: guidParams,
        response: { 200: fieldSchema },
      },
    },
    (request) => endMigration(flows.records.database, request.params.guid, changerOf(flows, request)),
  )
}

function changerOf(
  { permissions, environment, records }: FieldRouteServices,
  request: FastifyRequest,
): FieldChanger {
  return {
    by: actorOf(request),
    timeZone: environment.values.timeZone,
    mayChangeDocuments() {
      if (holds(callerOf(request).scopes, 'storages_update')) return
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        'Stored documents follow this change: it needs the scope storages_update too.',
      )
    },
    async seen(storage, field, misfits) {
      const session = permissions.database(records.database, callerSubject(request)).session()
      const reads = holds(callerOf(request).scopes, 'storages_view')
      const guids = misfits.map(({ guid }) => guid)
      const query: Query = { kind: 'terms', field: '_meta.guid', values: guids }
      const found = await session.find(storage, search({ query, limit: Math.max(1, guids.length) }))
      const visible = new Map(
        objectsIn(found.documents.value).map((document) => [guidOf(document), document]),
      )
      return misfits.flatMap(({ guid, problem }) => {
        const document = visible.get(guid)
        if (!document) return []
        // Guids say nothing; values are for those who read documents.
        const value = reads ? valueAt(document, parseFieldPath(field)) : undefined
        return [{ guid, ...(value !== undefined && { value }), problem }]
      })
    },
  }
}

function fillFieldRoute(app: App, database: ValidatedDatabase): void {
  app.post(
    '/blueprintfields/:guid/fill',
    {
      config: {
        permission: 'blueprintfields_view',
        alsoNeeds: ['storages_update'],
        bodyOptional: true,
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'fillField',
        summary: 'Fill a field in stored documents',
        description:
          'A job gives each document of the storage the `default_value` of the field or the next number of an `autonumber`, where the field is missing or null, or its computed value. `GET /queue/{guid}` of the job has its progress; DELETE cancels it between two batches. Documents whose rules refuse it are left as they are, counted and listed there.',
        tags,
        params: guidParams,
        response: { 200: filledSchema },
      },
    },
    (request) => fillField(database, request.params.guid, actorOf(request)),
  )
}

function removeFieldRoute(fields: Fields, database: ValidatedDatabase): void {
  fields.remove(
    {
      operationId: 'removeField',
      summary: 'Remove a blueprint field',
      description: 'Its rules no longer apply. Documents keep their values.',
      errors: ['CONFLICT'],
    },
    async (guid, request) => {
      if (isPermitted(await getField(database, guid))) checkMaySetRules(request)
      return removeField(database, guid, actorOf(request))
    },
  )
}

/**
 * Whether values of a field that not everyone sees would go into another one, which says of itself who sees it: by `misfits.keep_in`, or by
 * an expression that reads it.
 */
async function readsHidden(
  database: ValidatedDatabase,
  changes: FieldCopies,
  before: JsonObject = {},
): Promise<boolean> {
  const { storage, visible_to, misfits, computed, default_expression } = { ...before, ...changes }
  if (typeof visible_to === 'string' && misfits?.keep_in !== undefined) return true
  const known = storage === before.storage ? [before.computed, before.default_expression] : []
  const read = [computed, default_expression].flatMap((text) =>
    typeof text === 'string' && !known.includes(text) ? fieldsRead(text) : [],
  )
  if (typeof storage !== 'string' || read.length === 0) return false
  const hidden = (await rulesIn(database.session(), storage)).filter(
    ({ visibleTo }) => visibleTo !== undefined,
  )
  return hidden.some(({ name }) => read.some((one) => one === '' || overlap(one, name)))
}

interface FieldCopies extends Permitted {
  readonly storage?: JsonValue | undefined
  readonly computed?: JsonValue | undefined
  readonly default_expression?: JsonValue | undefined
  readonly misfits?: { readonly keep_in?: JsonValue | undefined } | undefined
}

interface FieldChanges extends Permitted {
  readonly name?: JsonValue | undefined
  readonly storage?: JsonValue | undefined
}

interface Permitted {
  readonly visible_to?: JsonValue | undefined
  readonly settable_by?: JsonValue | undefined
}

/** Another name or storage would take the field out of the rules that it has. */
function changesPermissions(before: JsonObject, changes: FieldChanges): boolean {
  const names = [
    'visible_to',
    'settable_by',
    ...(isPermitted(before) ? (['name', 'storage'] as const) : []),
  ] as const
  return names.some((name) => changes[name] !== undefined && changes[name] !== (before[name] ?? null))
}

/** Whether the field says who sees it, or who may set it. */
function isPermitted({ visible_to, settable_by }: Permitted): boolean {
  return typeof visible_to === 'string' || typeof settable_by === 'string'
}
