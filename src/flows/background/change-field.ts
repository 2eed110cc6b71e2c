/**
 * A change of a field by the management API: at once where no stored document has to follow, else with a job that takes them along.
 * `records/fields/field-migration.ts` has the states.
 */
import { setTimeout as wait } from 'node:timers/promises'
import {
  convertibleChange,
  refuseMisfits,
  type SeenDocuments,
} from '../../records/fields/convertible-change.ts'
import { type FieldMigration, migrationIn } from '../../records/fields/field-migration.ts'
import {
  changedRecord,
  checkFree,
  getField,
  migrating,
  updateField,
} from '../../records/fields/field-records.ts'
import { ruleOf } from '../../records/fields/field-rules.ts'
import { checkRename, formerNames, isOnlyRenamed } from '../../records/fields/rename-field.ts'
import { ensureRenamedRules, renameInExpressions } from '../../records/fields/rename-in-expressions.ts'
import { askedBy, asksSame, storedFit } from '../../records/fields/stored-misfits.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { beginConversion, beginCopy, beginStep, endPreparation, ensureUnchanged } from './field-migrations.ts'

/** Up to this many documents are waited for: they take some hundred milliseconds. */
const FEW = 1_000
const WAIT_MS = 5_000
/** Of a job that waits for others, or whose queue is paused. */
const IDLE_MS = 1_000
const LOOK_MS = 25

export interface FieldChanger {
  readonly by: Actor
  readonly timeZone: string
  /** Throws INSUFFICIENT_PERMISSIONS for a caller who may not change documents. */
  readonly mayChangeDocuments: () => void
  /** What the caller may see of the documents that do not fit. */
  readonly seen: SeenDocuments
}

/** Errors as of `updateField`. `renamed_values` and `misfits` say what is stored instead of former values. */
export async function changeField(
  database: Database,
  guid: string,
  input: JsonObject,
  changer: FieldChanger,
): Promise<JsonObject> {
  const { misfits: _misfits, renamed_values: _values, ...changes } = input
  const record = await getField(database, guid)
  const then = await changedRecord(database.session(), guid, changes)
  const [before, after] = [ruleOf(record), ruleOf(then)]
  if (!before || !after) return updateField(database, guid, changes, changer.by)
  const migration = migrationIn(record)
  if (migration) return changeMigrating(database, record, { changes, changer, migration, before, after })
  if (after.name !== before.name) await checkFree(database.session(), then, guid)
  const renamed = await checkRename(database, before, after)
  if (renamed.documents > 0) {
    changer.mayChangeDocuments()
    return settled(database, await beginCopy(database, record, { changes, after, ...renamed }, changer.by))
  }
  const requested = convertibleChange(database, { before, after }, input, changer.timeZone)
  if (!requested) {
    const also = await withRename(database, record, { before, after }, changer.by)
    return updateField(database, guid, changes, changer.by, { also })
  }
  const fit = await refuseMisfits(database, requested, changer.seen)
  if (fit.converted + fit.total === 0)
    return updateField(database, guid, changes, changer.by, { checked: true })
  changer.mayChangeDocuments()
  const begun = await beginConversion(
    database,
    record,
    { changes, requested, documents: fit.converted + fit.total },
    changer.by,
  )
  return settled(database, begun)
}

/** Only removed documents may have values under the former name, and expressions read the field. */
async function withRename(
  database: Database,
  record: JsonObject,
  { before, after }: { readonly before: FieldRule; readonly after: FieldRule },
  by: Actor,
) {
  const { name: from, storage } = before
  if (from === after.name || storage === undefined) return async () => ({})
  const renamed = after.storage === storage ? { storage, from, to: after.name } : undefined
  if (renamed) await ensureRenamedRules(database, renamed)
  return async (session: Session) => {
    await ensureUnchanged(session, record)
    if (renamed) await renameInExpressions(session, renamed, by)
    return { former_names: [...formerNames(record, from, after.name)] }
  }
}

interface Migrating {
  readonly changes: JsonObject
  readonly changer: FieldChanger
  readonly migration: FieldMigration
  readonly before: FieldRule
  readonly after: FieldRule
}

/** Labels may change; the same change continues where its job has ended, and a rename is taken back. */
async function changeMigrating(
  database: Database,
  read: JsonObject,
  { changes, changer, migration, before, after }: Migrating,
): Promise<JsonObject> {
  const { step, field } = migration
  const guid = guidOf(read)
  if (step === 'prepare') throw migrating(before.name, migration)
  const { name: _name, ...others } = changes
  const isRenamed = after.name !== before.name
  if (!isOnlyRenamed(before, after) || (isRenamed && after.name !== field))
    throw migrating(before.name, migration)
  if (isRenamed && step === 'clear') {
    changer.mayChangeDocuments()
    return settled(
      database,
      await beginCopy(database, read, { changes, after, documents: migration.documents }, changer.by),
    )
  }
  const isAsked =
    isRenamed || (step !== 'copy' && ('type' in changes || 'name' in changes) && asksSame(before, after))
  const isWorking = !migration.stopped && (await isLive(database, migration.job))
  const record =
    Object.keys(others).length === 0
      ? await getField(database, guid)
      : await updateField(database, guid, others, changer.by, { checked: true })
  if (!isAsked || isWorking) return record
  changer.mayChangeDocuments()
  return settled(database, await beginStep(database, read, migration, changer.by))
}

async function isLive(database: Database, job: string): Promise<boolean> {
  const state = (await database.capabilities.jobs.get(job))?.state
  return state === 'waiting' || state === 'running'
}

/** The field when its documents have followed, if they are few and their job has begun soon. */
async function settled(database: Database, begun: JsonObject): Promise<JsonObject> {
  const guid = guidOf(begun)
  const from = performance.now()
  let record = begun
  for (;;) {
    const migration = migrationIn(record)
    if (!migration || migration.stopped || migration.documents > FEW) return record
    const waited = performance.now() - from
    if (waited > WAIT_MS) return record
    if (waited > IDLE_MS && (await database.capabilities.jobs.get(migration.job))?.state === 'waiting')
      return record
    await wait(LOOK_MS)
    record = await getField(database, guid)
  }
}

/** Takes a rename back before the new name counts. Of a conversion it leaves what the job has not done. */
export async function endMigration(
  database: Database,
  guid: string,
  changer: FieldChanger,
): Promise<JsonObject> {
  const record = await getField(database, guid)
  const migration = migrationIn(record)
  if (!migration)
    throw new QuoinError('CONFLICT', `No documents follow a change of the field ${String(record.name)}.`)
  if (migration.step === 'clear')
    throw new QuoinError(
      'CONFLICT',
      `The field is named ${String(record.name)} already. To take that back, rename it to ${migration.field}.`,
    )
  changer.mayChangeDocuments()
  if (migration.step === 'prepare') {
    await endPreparation(database, record, changer.by)
    return record
  }
  await database.capabilities.jobs.cancel(migration.job)
  if (migration.step === 'convert')
    return updateField(database, guid, {}, changer.by, {
      checked: true,
      async also(session) {
        await ensureUnchanged(session, record)
        return { migration: null }
      },
    })
  return settled(database, await beginStep(database, record, { ...migration, step: 'clear' }, changer.by))
}

export interface CheckedChange {
  readonly documents: number
  readonly converted: number
  readonly misfits: { readonly total: number; readonly documents: readonly JsonObject[] }
}

/** What the change would do to stored documents, without doing it. Throws as the change does, but for documents that do not fit. */
export async function checkChange(
  database: Database,
  guid: string,
  { misfits, renamed_values, ...changes }: JsonObject,
  { timeZone, seen }: Pick<FieldChanger, 'timeZone' | 'seen'>,
): Promise<CheckedChange> {
  const before = ruleOf(await getField(database, guid))
  const then = await changedRecord(database.session(), guid, changes)
  const after = ruleOf(then)
  const { storage } = before ?? {}
  if (!before || !after || storage === undefined || !database.has(storage))
    return { documents: 0, converted: 0, misfits: { total: 0, documents: [] } }
  if (after.name !== before.name) await checkFree(database.session(), then, guid)
  await checkRename(database, before, after)
  const input = {
    ...(misfits !== undefined && { misfits }),
    ...(renamed_values !== undefined && { renamed_values }),
  }
  const requested = convertibleChange(database, { before, after }, input, timeZone)
  const isRenamed = before.name !== after.name && isOnlyRenamed(before, after)
  const rule = isRenamed ? undefined : (requested?.rule ?? askedBy(database, { before, after }))
  if (!rule) {
    const documents = await database.session().count(storage, { kind: 'exists', field: before.name })
    return { documents, converted: 0, misfits: { total: 0, documents: [] } }
  }
  const {
    documents,
    converted,
    total,
    misfits: listed,
  } = await storedFit(database, rule, requested?.conversion)
  const shown = await seen(storage, rule.name, listed)
  return { documents, converted, misfits: { total, documents: shown } }
}
