import { fillField } from '../../../flows/background/fill-field.ts'
import { createField, getField, removeField, updateField } from '../../../records/fields/field-records.ts'
import type { RecordContext } from '../../../records/records.ts'
import {
  createFieldSchema,
  fieldSchema,
  filledSchema,
  updateFieldSchema,
} from '../../../shared/api/blueprints/blueprint-fields.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { findPage } from '../../../storage/find-page.ts'
import { ownStorages } from '../../../storage/own-storages.ts'
import type { RuledDatabase } from '../../../storage/ruled.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { checkMaySetRules } from '../data/rules-scope.ts'
import { resource } from '../resource.ts'
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
export function blueprintFieldRoutes({ database }: RecordContext): RouteFamily {
  return (app) => {
    const fields = fieldResource(app)
    fields.list(
      {
        operationId: 'searchFields',
        summary: 'List blueprint fields',
        description: 'Filter by `storage` to list the fields of its documents.',
      },
      (wanted) => findPage(database.session(), ownStorages.fields, wanted),
    )
    createFieldRoute(fields, database)
    fields.get({ operationId: 'getField', summary: 'One blueprint field' }, (guid) =>
      getField(database, guid),
    )
    updateFieldRoute(fields, database)
    fillFieldRoute(app, database)
    removeFieldRoute(fields, database)
  }
}

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

function createFieldRoute(fields: Fields, database: RuledDatabase): void {
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
    (body, request) => {
      if (isPermitted(body)) checkMaySetRules(request)
      return createField(database, body, actorOf(request))
    },
  )
}

function updateFieldRoute(fields: Fields, database: RuledDatabase): void {
  fields.update(
    {
      operationId: 'updateField',
      summary: 'Change a blueprint field',
      description:
        'Changes the given fields; replaces `validation_rules` and `metadata` as a whole. Refused with 409 over documents that do not fit, as when creating; a field becomes required only if all documents have a value.',
      errors: ['CONFLICT'],
      bodyBytes: MOST_BYTES,
      body: updateFieldSchema,
    },
    async (guid, body, request) => {
      if (changesPermissions(await getField(database, guid), body)) checkMaySetRules(request)
      return updateField(database, guid, body, actorOf(request))
    },
  )
}

function fillFieldRoute(app: App, database: RuledDatabase): void {
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

function removeFieldRoute(fields: Fields, database: RuledDatabase): void {
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
