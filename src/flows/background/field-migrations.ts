/** The steps of a field's migration, each a job over its documents; `records/fields/field-migration.ts` has the states. */

import { type ManyProgress, manyProgress } from '../../records/documents/many-changes.ts'
import type { ConvertibleChange } from '../../records/fields/convertible-change.ts'
import {
  type FieldMigration,
  migrationIn,
  secondName,
  storedMigration,
} from '../../records/fields/field-migration.ts'
import {
  checkFree,
  createField,
  getField,
  removeField,
  updateField,
} from '../../records/fields/field-records.ts'
import { preparedRulesOf, ruleOf } from '../../records/fields/field-rules.ts'
import { preparationFit } from '../../records/fields/prepared-values.ts'
import { formerNames, refuseOtherVersions } from '../../records/fields/rename-field.ts'
import { ensureRenamedRules, renameInExpressions } from '../../records/fields/rename-in-expressions.ts'
import { storedFit } from '../../records/fields/stored-misfits.ts'
import { aloneWithUnique, changeUnique } from '../../records/fields/unique-fields.ts'
import { type Actor, getRecord } from '../../records/records.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { matchAll, type Query } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import type { Job } from '../../storage/job.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { ATTEMPTS_OF_MANY, manyChangeJob, originPayload } from '../run/job-payload.ts'

interface Renaming {
  readonly changes: JsonObject
  readonly after: FieldRule
  readonly documents: number
  /** The application whose release takes the new name; without one it counts as soon as all documents have it. */
  readonly heldFor?: string
}

/** Begins to copy the values to the new name; the former one counts until all have it. */
export async function beginCopy(
  database: Database,
  record: JsonObject,
  { changes, after, documents, heldFor }: Renaming,
  by: Actor,
): Promise<JsonObject> {
  const { name: _name, ...others } = changes
  const held = heldFor !== undefined && { heldFor }
  const step = { step: 'copy', field: after.name, documents, ...held } as const
  return begin(database, record, step, by, others)
}

export async function beginConversion(
  database: Database,
  record: JsonObject,
  {
    changes,
    requested,
    documents,
  }: { readonly changes: JsonObject; readonly requested: ConvertibleChange; readonly documents: number },
  by: Actor,
): Promise<JsonObject> {
  const { after, conversion } = requested
  await refuseOtherVersions(database)
  return begin(database, record, { step: 'convert', field: after.name, documents, conversion }, by, changes)
}

/** The same step again, or the one back. It waits for no release. */
export async function beginStep(
  database: Database,
  record: JsonObject,
  { step, field, documents, conversion, isDiscarded }: FieldMigration,
  by: Actor,
): Promise<JsonObject> {
  const more = { ...(conversion && { conversion }), ...(isDiscarded && { isDiscarded }) }
  return begin(database, record, { step, field, documents, ...more }, by, {})
}

type Step = Pick<
  FieldMigration,
  'step' | 'field' | 'documents' | 'conversion' | 'heldFor' | 'preparation' | 'isDiscarded'
>

/** Values that a release needs, made ahead of it. `record`: undefined for a field that the release makes. */
export async function beginPreparation(
  database: Database,
  record: JsonObject | undefined,
  step: Step & Required<Pick<FieldMigration, 'preparation'>>,
  by: Actor,
): Promise<JsonObject> {
  if (record) return begin(database, record, step, by, {})
  const {
    storage = null,
    name = null,
    type = null,
    validation_rules,
    visible_to,
    settable_by,
  } = step.preparation.field
  const ahead = {
    ...{ storage, name, type },
    ...(validation_rules !== undefined && { validation_rules }),
    ...(visible_to !== undefined && { visible_to }),
    ...(settable_by !== undefined && { settable_by }),
  }
  const migration: FieldMigration = { ...step, job: '', stopped: false }
  return createField(database, ahead, by, {
    checked: true,
    also: async (session, guid) => ({
      migration: await enqueued(session, guid, ahead, migration, by),
    }),
  })
}

/** Of a preparation that no release takes. What is under a name of its own goes; what is in the field itself stays. */
export async function endPreparation(database: Database, record: JsonObject, by: Actor): Promise<void> {
  const migration = migrationIn(record)
  const { job = '', field = '', documents = 0, preparation } = migration ?? {}
  await database.capabilities.jobs.cancel(job)
  if (field !== record.name) {
    await begin(database, record, { step: 'clear', field, documents, isDiscarded: true }, by, {})
    return
  }
  const ending = (session: Session) => ensureUnchanged(session, record)
  if (preparation?.isNew) await removeField(database, guidOf(record), by, { within: true, ending })
  else
    await updateField(database, guidOf(record), {}, by, {
      ...{ checked: true, within: true },
      async also(session) {
        await ending(session)
        return { migration: null }
      },
    })
}

/**
 * In the transaction of a change: throws MigrationChanged where the field has another name or migration than was read, as its job has come to the
 * end meanwhile, or the change was taken back. No other transaction changes the record before this one has ended.
 */
export async function ensureUnchanged(session: Session, read: JsonObject): Promise<void> {
  const guid = guidOf(read)
  await session.claims.lockDocuments(systemStorages.fields, [guid], 'change')
  const now = await getRecord(session, systemStorages.fields, guid, 'blueprint field')
  if (now.name === read.name && migrationIn(now)?.job === migrationIn(read)?.job) return
  throw new MigrationChanged(
    'CONFLICT',
    `The field ${textIn(read.name)} was changed by another request or by its job. Read it again.`,
    { fields: ['name'] },
  )
}

/** Nothing was changed. Who reads the field again may go on. */
export class MigrationChanged extends QuoinError {}

/** `record`: as it was read when the step was decided on. */
async function begin(
  database: Database,
  record: JsonObject,
  step: Step,
  by: Actor,
  changes: JsonObject,
): Promise<JsonObject> {
  const guid = guidOf(record)
  const rule = ruleOf({ ...record, ...changes })
  // The guid of the job is known in the transaction.
  const migration: FieldMigration = { ...step, job: '', stopped: false }
  const [before, after] = [migrationIn(record), migration].map((one) => rule && secondName(rule, one))
  const isUnique = before?.unique !== undefined || after?.unique !== undefined
  const write = () =>
    updateField(database, guid, changes, by, {
      checked: true,
      within: isUnique,
      async also(session) {
        await ensureUnchanged(session, record)
        return { migration: await enqueued(session, guid, record, migration, by) }
      },
    })
  // The second name is unique from the start, so that the switch has no document to look at.
  if (!isUnique) return write()
  return aloneWithUnique(database, () => changeUnique(database, { before, after }, write))
}

async function enqueued(
  session: Session,
  guid: string,
  { storage, name }: JsonObject,
  migration: FieldMigration,
  by: Actor,
): Promise<JsonObject> {
  // Asked again in the transaction that reserves the name.
  if (migration.step === 'copy' || migration.step === 'prepare')
    await checkFree(session, { storage: textIn(storage), name: migration.field }, guid)
  const of = { storage: textIn(storage), kind: 'update', includeRemoved: false, mutations: [] } as const
  // Documents without a value are not written, so that no event tells of them.
  const isOfSource = migration.step === 'copy' || migration.step === 'prepare'
  const having = isOfSource ? textIn(name) : migration.field
  const isOfAll = migration.preparation?.fill !== undefined
  const job = manyChangeJob({ ...of, query: matchAll, ...(!isOfAll && { having }) }, { user: by })
  const title = { copy: 'rename to', clear: 'remove former', convert: 'convert', prepare: 'prepare' }[
    migration.step
  ]
  const stored = await session.enqueue({
    ...job,
    title: `${title} ${migration.field} in ${textIn(storage)}`,
    payload: { ...job.payload, field: guid },
  })
  return storedMigration({ ...migration, job: stored ?? '' })
}

/** When the job of a step has gone through all documents: the next step, or the end. Done once, whichever attempt of the job comes to it. */
export async function continueMigration(
  database: Database,
  job: Pick<Job, 'guid' | 'payload'>,
  by: Actor,
): Promise<void> {
  const guid = textIn(job.payload.field)
  const record = await getField(database, guid).catch(() => undefined)
  const migration = record && migrationIn(record)
  if (!record || !migration || migration.job !== job.guid) return
  try {
    const progress = await manyProgress(database, job.guid)
    if (migration.step === 'prepare') await continuePreparation(database, record, migration, progress, by)
    else await continueStep(database, record, migration, progress?.refused ?? 0, by)
  } catch (error) {
    const now = await getField(database, guid).catch(() => undefined)
    // Taken back meanwhile.
    if (now && migrationIn(now)?.job === job.guid) throw error
  }
}

async function continueStep(
  database: Database,
  record: JsonObject,
  migration: FieldMigration,
  refused: number,
  by: Actor,
): Promise<void> {
  const rule = ruleOf(record)
  const storage = textIn(record.storage)
  const left = database.has(storage) && rule ? await leftOver(database, rule, migration) : 0
  // A round that leaves as many as it found would be followed by the same for ever.
  if (left > 0 && left < migration.documents && refused === 0) {
    await begin(database, record, { ...migration, documents: left }, by, {})
    return
  }
  const become = (next: FieldMigration | undefined) =>
    updateField(database, guidOf(record), {}, by, {
      checked: true,
      async also(session) {
        await ensureUnchanged(session, record)
        return { migration: next ? storedMigration(next) : null }
      },
    })
  if (left > 0) await become({ ...migration, stopped: true })
  else if (migration.step !== 'copy') await become(undefined)
  else if (migration.heldFor !== undefined) await become({ ...migration, isCopied: true })
  else await switchName(database, record, migration, by)
}

/** Where documents were refused or get no value, the push that waits says so. */
async function continuePreparation(
  database: Database,
  record: JsonObject,
  migration: FieldMigration,
  progress: ManyProgress | undefined,
  by: Actor,
): Promise<void> {
  const [rule] = preparedRulesOf(record).filter((one) => one.preparation)
  const fit = rule?.preparation && (await preparationFit(database, rule, rule.preparation))
  const left = (fit?.filled ?? 0) + (fit?.converted ?? 0)
  const isMoving = progress?.refused === 0 && progress.changed > 0
  if (left > 0 && isMoving && fit?.total === 0) {
    await begin(database, record, migration, by, {})
    return
  }
  const isStopped = left > 0 || (fit?.total ?? 0) > 0
  const next = { ...migration, ...(isStopped ? { stopped: true } : { isCopied: true as const }) }
  await updateField(database, guidOf(record), {}, by, {
    ...{ checked: true, within: true },
    async also(session) {
      await ensureUnchanged(session, record)
      return { migration: storedMigration(next) }
    },
  })
}

/** Documents that the step has not reached, such as those that were created with the rules from before it. */
async function leftOver(
  database: Database,
  rule: FieldRule,
  { step, field }: FieldMigration,
): Promise<number> {
  const { storage = '', name, conversion } = rule
  const session = database.session()
  const missing: Query = {
    kind: 'and',
    queries: [
      { kind: 'exists', field: name },
      { kind: 'not', query: { kind: 'exists', field } },
    ],
  }
  if (step === 'copy') return session.count(storage, missing)
  if (step === 'clear') return session.count(storage, { kind: 'exists', field })
  const fit = await storedFit(database, { ...rule, required: false }, conversion)
  return fit.converted + (conversion?.misfits ? 0 : fit.total)
}

interface SwitchOptions {
  readonly within?: boolean
  /** Storages whose expressions are left as they are. */
  readonly isLeft?: (storage: string) => boolean
  /** The former name stays in documents: its values are not those of the new one. */
  readonly isConverted?: boolean
  /** The former name stays in documents until every node serves the release; else it is removed at once. */
  readonly isReleased?: boolean
}

/**
 * In one transaction: the new name, the job that removes the former one, and expressions that read the field. Without documents
 * there is nothing to remove.
 */
export async function switchName(
  database: Database,
  record: JsonObject,
  { field, documents }: Pick<FieldMigration, 'field' | 'documents'>,
  by: Actor,
  { isLeft, within = false, isConverted = false, isReleased = false }: SwitchOptions = {},
): Promise<JsonObject> {
  const [storage, name] = [textIn(record.storage), textIn(record.name)]
  const renamed = { storage, from: name, to: field }
  await ensureRenamedRules(database, renamed)
  const clear: FieldMigration = {
    ...{ step: 'clear', field: name, documents, job: '', stopped: false },
    ...(isReleased && { isBeside: true as const }),
  }
  return updateField(database, guidOf(record), { name: field }, by, {
    checked: true,
    within,
    also: async (session) => {
      await ensureUnchanged(session, record)
      await renameInExpressions(session, renamed, by, isLeft)
      const clearing = async () =>
        isReleased
          ? storedMigration({ ...clear, job: await enqueuedServed(session, guidOf(record), by) })
          : enqueued(session, guidOf(record), record, clear, by)
      return {
        migration: documents === 0 ? null : await clearing(),
        ...(!isConverted && { former_names: [...formerNames(record, name, field)] }),
      }
    },
  })
}

// A release changes what flows call a field, and each node goes on with the former flows until the release has come to it. So writes
// serve both for a while: a former name is `isBeside`, and new documents get what is `settling`. A job ends that, in two steps.
// - release: waits until the release is over on the node that made it, and until every other live node has followed. A node that cannot
// be reached has stopped to answer when its lease has ended.
// - requests: those that began with the former flows have had this time, from when the last node followed.

const REQUESTS_MS = 5_000

/** In the transaction of the release. Gives the guid of the job. */
export function enqueuedServed(session: Session, field: string, by: Actor): Promise<string> {
  // One after the other, since each waits.
  return enqueuedStep(session, { field, after: 'release' }, { by, orderKey: 'release of fields' })
}

async function enqueuedStep(
  session: Session,
  step: { readonly field: string; readonly after: 'release' | 'requests' },
  { by, ...more }: { readonly by: Actor; readonly orderKey?: string; readonly runAt?: number },
): Promise<string> {
  const stored = await session.enqueue({
    queue: 'default',
    kind: 'change',
    title: 'end of former flows',
    payload: { ...step, ...originPayload({ user: by }) },
    attempts: ATTEMPTS_OF_MANY,
    ...more,
  })
  return stored ?? ''
}

/** One step. Nothing where the field has gone on to something else meanwhile, such as the way back. */
export async function endFormerFlows(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { guid: job, payload }: Pick<Job, 'guid' | 'payload'>,
  by: Actor,
): Promise<void> {
  const { withClusterLock, cluster } = database.capabilities
  const field = textIn(payload.field)
  const isFirst = payload.after === 'release'
  if (isFirst) {
    // Who releases has the lock until it serves the release itself.
    await withClusterLock('deployments', async () => undefined)
    // Behind the change of the release, in the order in which each node follows changes.
    await cluster?.notify(systemStorages.blueprints, [])
  }
  const record = await getField(database, field).catch(() => undefined)
  if (!record) return
  const write = (also: (session: Session, now: JsonObject) => Promise<JsonObject>) =>
    updateField(database, field, {}, by, {
      ...{ checked: true, within: true },
      also: async (session) => {
        await session.claims.lockDocuments(systemStorages.fields, [field], 'change')
        return also(session, await getRecord(session, systemStorages.fields, field, 'blueprint field'))
      },
    })
  await write(async (session, now) => {
    const migration = migrationIn(now)
    const isClearing = migration?.job === job
    const settling = isJsonObject(now.settling) && now.settling.job === job ? now.settling : undefined
    if (!isClearing && !settling) return {}
    if (isFirst) {
      const next = { by, runAt: clock() + REQUESTS_MS }
      const then = await enqueuedStep(session, { field, after: 'requests' }, next)
      if (settling) return { settling: { ...settling, job: then } }
      return migration ? { migration: storedMigration({ ...migration, job: then }) } : {}
    }
    if (settling || !migration) return { settling: null }
    const { isBeside: _, ...clear } = migration
    return { migration: await enqueued(session, field, now, clear, by) }
  })
}
