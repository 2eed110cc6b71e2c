/** Storages as builders see them: `{ name, description, history, closed, rules, created_by, modified_by }` and the documents behind. */

import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, type Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { documentOf } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { findAll, findPage } from '../storage/find-documents.ts'
import { isOwnStorage, storageNameProblem, systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import type { PermittedDatabase } from '../storage/validated.ts'
import type { AuditLog } from './audit-log.ts'
import type { DocumentHistory } from './documents/document-history.ts'
import { checkedConstraints } from './fields/constraints.ts'
import { permissionsIn, referencesFor } from './fields/field-rules.ts'
import { type RuleScope, scopeOf } from './permissions/reference-query.ts'
import { checkedRules, seeIndexes } from './permissions/storage-rules.ts'
import { expiryNeeds } from './purge-expired.ts'
import { type Actor, getRecord, notFound, type RecordContext } from './records.ts'
import { forgetViews } from './saved-views.ts'

export interface StorageContext {
  /** Its storage is the one that keeps to the rules of fields. */
  readonly records: RecordContext
  readonly history: DocumentHistory
  readonly audit: Pick<AuditLog, 'record'>
}

/** Whose documents are opened on behalf of one user, or explicitly of the system. */
export interface PermittedContext extends StorageContext {
  readonly records: RecordContext & { readonly database: PermittedDatabase }
}

export interface StorageInput {
  readonly name: string
  readonly description?: string
  /** Keep what every write of a document changed. */
  readonly history?: boolean
  /** Refuse fields that it does not list. */
  readonly closed?: boolean
  /** Who may do what with its documents; null for no rules. */
  readonly rules?: JsonValue
  /** Conditions between its fields, which bind every writer. */
  readonly constraints?: JsonValue
}

const { storages } = systemStorages

/** INVALID_BODY for a name that cannot be one, or a rule that cannot be used; CONFLICT for one that is taken. */
export async function createStorage(
  { records, history }: StorageContext,
  input: StorageInput,
  by: Actor,
): Promise<JsonObject> {
  const { name } = input
  const problem = isOwnStorage(name)
    ? 'must not start with _: those storages belong to Quoin itself'
    : storageNameProblem(name)
  if (problem) throw invalidField('name', `name ${problem}.`)
  const scope = await scopeFor(records, name)
  const fields = {
    name,
    description: input.description ?? '',
    history: input.history ?? false,
    closed: input.closed ?? false,
    rules: checkedRules(input.rules ?? null, scope),
    constraints: checkedConstraints(input.constraints ?? []),
    created_by: { ...by },
    modified_by: { ...by },
  }
  await checkFree(records, name)
  await records.database.ensure(name, expiryNeeds)
  await ensureValidated(records, fields.rules, scope)
  const created = await transact(
    records.database,
    async (session) => {
      await checkFree(records, name)
      return documentOf(await session.create(storages, setFields(fields)))
    },
    { user: by },
  )
  await history.refresh()
  return created
}

async function checkFree({ database }: RecordContext, name: string): Promise<void> {
  const taken = await database.session().count(storages, { kind: 'term', field: 'name', value: name })
  if (taken > 0) throw new QuoinError('CONFLICT', `There is a storage named ${name}. Choose another name.`)
}

/** Before the rules count: lists are searched through them from then on. */
async function ensureValidated(
  { database }: RecordContext,
  rules: JsonObject | null,
  scope: RuleScope,
): Promise<void> {
  const inputs = permissionsIn(rules ?? undefined)
  if (!inputs) return
  for (const [storage, indexes] of seeIndexes(inputs, scope))
    if (storage === scope.storage || database.has(storage)) await database.ensure(storage, { indexes })
}

async function scopeFor({ database }: RecordContext, name: string): Promise<RuleScope> {
  return scopeOf(name, await referencesFor(database.session()))
}

export async function getStorage(
  { records }: Pick<StorageContext, 'records'>,
  guid: string,
): Promise<JsonObject> {
  return whole(await getRecord(records.database.session(), storages, guid, 'storage'))
}

export async function searchStorages({ records }: StorageContext, requested: Search): Promise<RecordPage> {
  const page = await findPage(records.database.session(), storages, requested)
  return { ...page, records: page.records.map(whole) }
}

/**
 * The name of the storage that holds the documents; creates that storage if it is missing. Takes the record's guid, or the
 * name itself, which a user of the command line knows. NOT_FOUND for a guid of something else.
 */
export async function storageNamed({ records }: StorageContext, guidOrName: string): Promise<string> {
  const name = await nameOf(records, guidOrName)
  // A crash in the middle of a removal leaves the record without its documents.
  if (!records.database.has(name)) await records.database.ensure(name, expiryNeeds)
  return name
}

/** For searches for words. As a deploy makes it for a flow that has one. */
export async function createTextIndex(context: StorageContext, guidOrName: string): Promise<void> {
  const name = await storageNamed(context, guidOrName)
  await context.records.database.ensure(name, { text: true })
}

/** Storages of Quoin itself have no record, so they cannot be asked for by name. */
async function nameOf({ database }: RecordContext, guidOrName: string): Promise<string> {
  const session = database.session()
  const known = await session.get(storages, guidOrName)
  if (known) return textIn(documentOf(known).name)
  const named = await session.count(storages, { kind: 'term', field: 'name', value: guidOrName })
  if (named === 0) throw notFound(guidOrName, 'storage')
  return guidOrName
}

/** The name stays: blueprints know the storage by it. */
export async function updateStorage(
  { records, history }: StorageContext,
  guid: string,
  changes: Omit<Partial<StorageInput>, 'name'>,
  by: Actor,
): Promise<JsonObject> {
  const { description, history: hasHistory, closed } = changes
  const rules = changes.rules === undefined ? undefined : await storageRules(records, guid, changes.rules)
  const constraints = changes.constraints === undefined ? undefined : checkedConstraints(changes.constraints)
  const updated = await transact(
    records.database,
    async (session) => {
      const mutations = setFields({
        description,
        history: hasHistory,
        closed,
        rules,
        constraints,
        modified_by: { ...by },
      })
      const written = await session.update(storages, guid, mutations)
      if (written.outcome !== 'written') throw notFound(guid, 'storage')
      return documentOf(written.document)
    },
    { user: by },
  )
  await history.refresh()
  return whole(updated)
}

async function storageRules(
  records: RecordContext,
  guid: string,
  inputs: JsonValue,
): Promise<JsonObject | null> {
  const scope = await scopeFor(records, textIn((await getStorage({ records }, guid)).name))
  const rules = checkedRules(inputs, scope)
  await ensureValidated(records, rules, scope)
  return rules
}

export async function countDocuments(context: PermittedContext, guid: string): Promise<number> {
  const name = await storageNamed(context, guid)
  return context.records.database.session().count(name, matchAll)
}

/**
 * Drops the storage with its documents and their history. CONFLICT while active blueprints use it, of which `usedBy` gives
 * the names. The record goes last: a removal that is cut short can be repeated.
 */
export async function removeStorage(
  { records, history }: StorageContext,
  usedBy: (storage: string) => readonly string[],
  guid: string,
  by: Actor,
): Promise<void> {
  const record = await getRecord(records.database.session(), storages, guid, 'storage')
  const name = textIn(record.name)
  const users = usedBy(name)
  if (users.length > 0) {
    const names = users.map((blueprint) => `"${blueprint}"`).join(', ')
    throw new QuoinError(
      'CONFLICT',
      `The storage ${name} is used by the active blueprint ${names}. Set it inactive first, then delete the storage.`,
    )
  }
  await refuseReferenced(records, name)
  await records.database.drop(name)
  await transact(
    records.database,
    async (session) => {
      await forgetViews(session, name)
      const removed = await session.setRemoved(storages, guid, true)
      if (removed.outcome !== 'written') throw notFound(guid, 'storage')
    },
    { user: by },
  )
  await history.refresh()
  await history.forget(name)
}

async function refuseReferenced({ database }: RecordContext, name: string): Promise<void> {
  const query = { kind: 'term', field: 'reference.storage', value: name } as const
  const fields = await findAll(database.session(), systemStorages.fields, query, 1_000)
  const other = fields.find(({ storage }) => storage !== name)
  if (other)
    throw new QuoinError(
      'CONFLICT',
      `The field ${textIn(other.name)} of the storage ${textIn(other.storage)} refers to documents of the storage ${name}. Remove the reference or the field first.`,
    )
}

/** With what records lack that were made before it was kept. */
function whole(record: JsonObject): JsonObject {
  return {
    history: false,
    closed: false,
    rules: null,
    constraints: [],
    modified_by: record.created_by ?? { guid: '', username: '' },
    ...record,
  }
}
