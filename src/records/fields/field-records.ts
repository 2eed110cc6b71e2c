/** Blueprint fields as records: `{ name, type, description, blueprint_guid, storage, required, default_value, … }`. */

import { invalidField, QuoinError } from '../../shared/errors.ts'
import { fieldTypes } from '../../shared/fields/field-type.ts'
import { wordFor } from '../../shared/fields/type-words.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, type Query } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, updateHashOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { checkRulesLead } from '../permissions/reference-fields.ts'
import { type Actor, getRecord, notFound } from '../records.ts'
import { checkedField } from './checked-field.ts'
import { type FieldMigration, migrationIn } from './field-migration.ts'
import { MAX_FIELDS, ruleOf, rulesIn } from './field-rules.ts'
import { continueNumbers } from './numbered-fields.ts'
import { keepReference } from './reference-fields.ts'
import { checkStored } from './stored-misfits.ts'
import { aloneWithUnique, changeUnique, type FieldChange } from './unique-fields.ts'
import { checkComputed } from './write-plan.ts'

/** What a client may say about a field; its schema has checked the types. */
export type FieldInput = JsonObject

export const fieldDefaults: JsonObject = {
  description: '',
  blueprint_guid: null,
  storage: null,
  required: false,
  default_value: null,
  validation_rules: {},
  metadata: {},
  unique: null,
  label: '',
  help: '',
  order: null,
  reference: null,
  collation: null,
  ignore_case: false,
  ignore_accents: false,
  computed: null,
  default_expression: null,
  visible_to: null,
  settable_by: null,
}

/**
 * INVALID_BODY naming what does not fit; CONFLICT if the storage has a field of this name, or documents that the field would
 * refuse or that keep it from being unique.
 */
export async function createField(
  database: Database,
  input: FieldInput,
  by: Actor,
  { checked = false, within = false, also }: CreateFieldOptions = {},
): Promise<JsonObject> {
  const record = checkedField({ ...fieldDefaults, ...withOwnWord(input) })
  await checkFree(database.session(), record, undefined)
  const create = () =>
    transact(
      database,
      async (session) => {
        if ((await session.count(systemStorages.fields, matchAll)) >= MAX_FIELDS)
          throw new QuoinError('CONFLICT', `A cluster holds at most ${MAX_FIELDS} fields. Delete some first.`)
        await checkBlueprint(session, record)
        await checkFree(session, record, undefined)
        await checkWithOthers(session, record, undefined)
        await checkRulesLead(session, { before: undefined, after: ruleOf(record) })
        const fields = { ...record, key: keyOf(record), created_by: { ...by }, modified_by: { ...by } }
        const created = documentOf(await session.create(systemStorages.fields, setFields(fields)))
        if (!also) return created
        const more = setFields(await also(session, guidOf(created)))
        const written = await session.update(systemStorages.fields, guidOf(created), more)
        return written.outcome === 'written' ? documentOf(written.document) : created
      },
      { user: by },
    )
  const change = { before: undefined, after: ruleOf(record) }
  if (!checked) await checkStored(database, change)
  if (within || !isRetained(change)) return create()
  return aloneWithUnique(database, () => changeRetained(database, change, create))
}

interface CreateFieldOptions extends Pick<UpdateOptions, 'checked' | 'within'> {
  /** In the transaction that creates it. Gives what else the record says. */
  readonly also?: (session: Session, guid: string) => Promise<JsonObject>
}

export async function getField(database: Database, guid: string): Promise<JsonObject> {
  return getRecord(database.session(), systemStorages.fields, guid, 'blueprint field')
}

export interface UpdateOptions {
  /** Stored documents were looked at, and fit or will. */
  readonly checked?: boolean
  /** Called within {@link aloneWithUnique}, with a change after which the same is unique, or by a caller that sees to it. */
  readonly within?: boolean
  /** In the transaction of the change. Gives what else the record says then. */
  readonly also?: (session: Session) => Promise<JsonObject>
}

/** Another change of the field came between what was checked and its write. */
class FieldChanged extends QuoinError {
  constructor() {
    super('CONFLICT', 'The field was changed again and again meanwhile. Read it again.')
  }
}

/** Each waits for a change that another client has made meanwhile. */
const MOST_TRIES = 5

/** Changes what is given; `validation_rules` and `metadata` as a whole. Errors as when creating, and NOT_FOUND. */
export async function updateField(
  database: Database,
  guid: string,
  changes: FieldInput,
  by: Actor,
  options: UpdateOptions = {},
): Promise<JsonObject> {
  for (let tries = 1; ; tries++) {
    try {
      return await changeField(database, guid, changes, by, options)
    } catch (error) {
      if (!(error instanceof FieldChanged) || tries === MOST_TRIES) throw error
    }
  }
}

async function changeField(
  database: Database,
  guid: string,
  changes: FieldInput,
  by: Actor,
  { checked = false, within = false, also }: UpdateOptions,
): Promise<JsonObject> {
  const known = await getField(database, guid)
  const condition = { updateHash: updateHashOf(known) }
  const change = () =>
    transact(
      database,
      async (session) => {
        const record = await changedRecord(session, guid, changes)
        await checkBlueprint(session, changes)
        await checkFree(session, record, guid)
        await checkWithOthers(session, record, guid)
        const before = ruleOf(await getRecord(session, systemStorages.fields, guid, 'blueprint field'))
        const more = (await also?.(session)) ?? {}
        await checkRulesLead(session, { before, after: ruleOf(record) })
        const unique = record.type === 'autonumber' && { unique: true }
        const fields = {
          ...withOwnWord(changes),
          ...unique,
          ...more,
          key: keyOf(record),
          modified_by: { ...by },
        }
        const written = await session.update(systemStorages.fields, guid, setFields(fields), condition)
        if (written.outcome === 'conflict') throw new FieldChanged()
        if (written.outcome !== 'written') throw notFound(guid, 'blueprint field')
        return documentOf(written.document)
      },
      { user: by },
    )
  const now = ruleOf(known)
  const then = ruleOf(await changedRecord(database.session(), guid, changes))
  if (!checked) await checkStored(database, { before: now, after: then })
  if (within || !isRetained({ before: now, after: then })) return change()
  return aloneWithUnique(database, async () => {
    const session = database.session()
    const before = ruleOf(await getField(database, guid))
    const record = await changedRecord(session, guid, changes)
    await checkFree(session, record, guid)
    return changeRetained(database, { before, after: ruleOf(record) }, change)
  })
}

/** What the field would be. Throws INVALID_BODY for what does not fit together. */
export async function changedRecord(
  session: Session,
  guid: string,
  changes: FieldInput,
): Promise<JsonObject> {
  const { _meta, ...before } = await getRecord(session, systemStorages.fields, guid, 'blueprint field')
  return checkedField({ ...before, ...withOwnWord(changes) })
}

/** While documents follow a change, only that change can be continued or ended. */
export function migrating(name: string, { step, field, job }: FieldMigration): QuoinError {
  const what = {
    copy: `is being renamed to ${field}`,
    clear: `is being removed from documents as ${field}`,
    convert: 'has its values converted',
    prepare: 'gets its values ready for a release',
  }[step]
  return new QuoinError(
    'CONFLICT',
    `The field ${name} ${what} by the job ${job}. Wait until it has ended, or end it by DELETE …/migration.`,
    { fields: ['name'] },
  )
}

interface RemoveFieldOptions extends Pick<UpdateOptions, 'within'> {
  /** In the transaction of the removal, which ends the field's migration too: throws where it may not. */
  readonly ending?: (session: Session) => Promise<void>
}

/** Soft delete: its rules no longer count. CONFLICT where what it was unique with would not be unique without it. */
export async function removeField(
  database: Database,
  guid: string,
  by: Actor,
  { within = false, ending }: RemoveFieldOptions = {},
): Promise<void> {
  const remove = () =>
    transact(
      database,
      async (session) => {
        const record = await getRecord(session, systemStorages.fields, guid, 'blueprint field')
        const migration = migrationIn(record)
        if (ending) await ending(session)
        else if (migration) throw migrating(String(record.name), migration)
        await checkRulesLead(session, { before: ruleOf(record), after: undefined })
        const removed = await session.setRemoved(systemStorages.fields, guid, true)
        if (removed.outcome !== 'written') throw notFound(guid, 'blueprint field')
      },
      { user: by },
    )
  if (within || !ruleOf(await getField(database, guid))?.unique) return remove()
  return aloneWithUnique(database, async () => {
    const before = ruleOf(await getField(database, guid))
    return changeUnique(database, { before, after: undefined }, remove)
  })
}

/** Whether stored documents have a say in the change. */
function isRetained({ before, after }: FieldChange): boolean {
  return [before, after].some((rule) => rule?.unique !== undefined || rule?.reference !== undefined)
}

async function changeRetained<T>(
  database: Database,
  change: FieldChange,
  write: () => Promise<T>,
): Promise<T> {
  await keepReference(database, change)
  await continueNumbers(database, change)
  const written = await changeUnique(database, change, write)
  // Again: until now documents were written with any number.
  await continueNumbers(database, change)
  return written
}

/** With the word of fields for its type: schemas of requests have others. */
function withOwnWord(input: FieldInput): FieldInput {
  const type = wordFor(input.type, fieldTypes)
  return type === undefined ? input : { ...input, type }
}

/** What can be told only with the other fields of its storage. */
async function checkWithOthers(
  session: Session,
  record: JsonObject,
  self: string | undefined,
): Promise<void> {
  const rule = ruleOf(record)
  if (rule?.computed === undefined || rule.storage === undefined) return
  const before = self === undefined ? undefined : await session.get(systemStorages.fields, self)
  const replaced = before && ruleOf(documentOf(before))?.name
  const others = await rulesIn(session, rule.storage)
  checkComputed([...others.filter(({ name }) => name !== replaced && name !== rule.name), rule])
}

async function checkBlueprint(session: Session, { blueprint_guid: guid }: JsonObject): Promise<void> {
  if (typeof guid !== 'string' || (await session.get(systemStorages.blueprints, guid))) return
  throw invalidField('blueprint_guid', `There is no blueprint with the guid ${guid}.`)
}

export async function checkFree(
  session: Session,
  record: JsonObject,
  self: string | undefined,
): Promise<void> {
  const { name, storage } = record
  const same: Query[] = [{ kind: 'term', field: 'key', value: keyOf(record) }]
  // A field that is renamed has both names for a while.
  if (typeof storage === 'string')
    same.push({
      kind: 'and',
      queries: [
        { kind: 'term', field: 'storage', value: storage },
        { kind: 'term', field: 'migration.field', value: String(name) },
      ],
    })
  const taken: Query = { kind: 'or', queries: same }
  const other: Query = { kind: 'not', query: { kind: 'term', field: '_meta.guid', value: self ?? '' } }
  const query: Query = self === undefined ? taken : { kind: 'and', queries: [taken, other] }
  if ((await session.count(systemStorages.fields, query)) === 0) return
  const place = typeof storage === 'string' ? `The storage ${storage}` : 'The cluster'
  throw new QuoinError('CONFLICT', `${place} has a field ${String(name)}. Change that one.`)
}

/** One field of a name for each storage, and one for all. */
function keyOf({ storage, name }: { readonly [key: string]: JsonValue }): string {
  return `${typeof storage === 'string' ? storage : '*'} ${String(name)}`
}
