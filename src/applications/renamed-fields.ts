/**
 * Fields that a push renames, with the values of stored documents. `records/fields/field-migration.ts` has the states of one field.
 *
 * - due: documents have a value under the former name. The push begins to copy and is answered; the old release serves.
 * - copying: a job copies, and each write does. The same push again tells how far it is.
 * - copied: the same push again releases. The new name counts in the transaction of the release.
 * - stopped: documents were refused. The push takes the copies back and says why.
 * A push that does not come again leaves the copies, and the next one without the rename removes them.
 */
import { beginCopy, beginStep } from '../flows/background/field-migrations.ts'
import { manyProgress } from '../records/documents/many-changes.ts'
import { migrationIn } from '../records/fields/field-migration.ts'
import { ruleOf } from '../records/fields/field-rules.ts'
import { checkRename, refuseOtherVersions } from '../records/fields/rename-field.ts'
import type { Actor } from '../records/records.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { type ObjectChange, withoutConversion } from '../shared/application/application-changes.ts'
import { changeOfPart } from '../shared/application/application-parts.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, memberOf } from '../shared/json.ts'
import type { Database } from '../storage/database.ts'
import { textsIn } from '../storage/document-fields.ts'
import { fieldOf, type PresentApplication } from './present-application.ts'

export interface RenamedField {
  readonly storage: string
  readonly was: string
  readonly name: string
  readonly record: JsonObject
  readonly state: 'without values' | 'due' | 'copying' | 'copied' | 'stopped'
  /** With a value when copying began, or now. */
  readonly documents: number
  /** Of the copy. */
  readonly job: string
}

/** How far a push is before its release, which is not live yet. */
export interface PreparedField {
  readonly storage: string
  readonly field: string
  readonly job: string
  readonly documents: number
  /** How many of them the job has gone through. */
  readonly done: number
}

export async function renamedFields(
  database: Database,
  { fields }: Pick<PresentApplication, 'fields'>,
  changes: readonly ObjectChange[],
  /** Whose values go along in another form. */
  isConverted: (storage: string, name: string) => boolean,
): Promise<readonly RenamedField[]> {
  const found: RenamedField[] = []
  for (const { map, object: storage, parts } of changes)
    for (const { was, name } of parts) {
      const record = was === undefined ? undefined : fields[storage]?.[was]
      if (map !== 'storages' || was === undefined || !record || isConverted(storage, name)) continue
      const migration = migrationIn(record)
      const isBegun = migration?.step === 'copy' && migration.field === name
      const { job, documents } = isBegun
        ? migration
        : { job: '', documents: await documentsWith(database, storage, was) }
      const state = !isBegun
        ? documents === 0
          ? 'without values'
          : 'due'
        : migration.isCopied
          ? 'copied'
          : migration.stopped
            ? 'stopped'
            : (await isLive(database, job))
              ? 'copying'
              : 'due'
      found.push({ storage, was, name, record, state, documents, job })
    }
  return found
}

function documentsWith(database: Database, storage: string, field: string): Promise<number> | number {
  return database.has(storage) ? database.session().count(storage, { kind: 'exists', field }) : 0
}

async function isLive(database: Database, job: string): Promise<boolean> {
  const state = (await database.capabilities.jobs.get(job))?.state
  return state === 'waiting' || state === 'running'
}

/** Copies that a push of the application began, and that this one does not want. */
export function leftCopies(
  { fields }: Pick<PresentApplication, 'fields'>,
  requested: Application,
  renamed: readonly RenamedField[],
): readonly { readonly storage: string; readonly record: JsonObject; readonly field: string }[] {
  return Object.entries(fields).flatMap(([storage, records]) =>
    // What follows a storage that is removed ends with it.
    Object.values(requested.storages[storage] ? records : {}).flatMap((record) => {
      const { step, heldFor, field = '' } = migrationIn(record) ?? {}
      if (step !== 'copy' || heldFor !== nameOfApplication(requested)) return []
      return renamed.some((one) => one.record === record && one.name === field)
        ? []
        : [{ storage, record, field }]
    }),
  )
}

/** Why values cannot go along, and other changes of fields whose documents follow a change. */
export async function renameProblems(
  database: Database,
  { fields }: Pick<PresentApplication, 'fields'>,
  { requested, changes }: { readonly requested: Application; readonly changes: readonly ObjectChange[] },
  renamed: readonly RenamedField[],
): Promise<string[]> {
  const problems: string[] = []
  for (const one of renamed) {
    const problem = await problemOf(database, one, requested)
    if (problem !== undefined) problems.push(`storages/${one.storage}.json: ${problem}`)
  }
  for (const { map, object, parts } of changes)
    for (const { kind, name, change } of map === 'storages' ? parts : []) {
      const record = kind === 'field' && change !== 'renamed' ? fields[object]?.[name] : undefined
      const migration = record && migrationIn(record)
      if (migration && migration.heldFor === undefined)
        problems.push(
          `storages/${object}.json: documents follow a change of the field ${name}. Wait until it has ended.`,
        )
    }
  return problems
}

async function problemOf(
  database: Database,
  { storage, name, record, state }: RenamedField,
  requested: Application,
): Promise<string | undefined> {
  const migration = migrationIn(record)
  if (migration && migration.field !== name)
    return `documents follow a change of the field ${String(record.name)}. Wait until it has ended.`
  const fields = requested.storages[storage]?.fields
  const field = withoutConversion((isJsonObject(fields) ? memberOf(fields, name) : undefined) ?? {})
  const changes = isJsonObject(field) ? changeOfPart('fields', fieldOf(record), field) : undefined
  const [before, after] = [ruleOf(record), ruleOf({ ...record, ...changes, name })]
  if (!before || !after) return undefined
  try {
    // A node of another version may have come since the copies were begun.
    if (state === 'copied' || state === 'copying') {
      await refuseOtherVersions(database)
      return undefined
    }
    await checkRename(database, before, after, { isBegun: migration !== null && migration !== undefined })
    return undefined
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return error.message
  }
}

/** For people, in front of what the release changes. */
export function renameSteps(
  renamed: readonly RenamedField[],
  left: ReturnType<typeof leftCopies>,
): readonly string[] {
  const moved = renamed.filter(({ state }) => state !== 'without values')
  return [
    ...moved.map(
      ({ storage, was, name, documents }) =>
        `${documents} documents of ${storage} get their value of ${was} as ${name}, while the present release serves`,
    ),
    ...left.map(
      ({ storage, record, field }) =>
        `the values of ${String(record.name)} that a former push copied to ${field} in ${storage} are removed`,
    ),
  ]
}

/** Begins what is due, and tells how far the rest is. CONFLICT where documents refused a copy: all copies are taken back then. */
export async function copyValues(
  database: Database,
  renamed: readonly RenamedField[],
  application: string,
  by: Actor,
): Promise<readonly PreparedField[]> {
  const stopped = renamed.filter((one) => one.state === 'stopped')
  if (stopped.length > 0) await refuseStopped(database, stopped, by)
  const prepared: PreparedField[] = []
  for (const one of renamed) {
    const { storage, name: field, record, state, documents, job } = one
    if (state === 'copying') {
      const done = (await manyProgress(database, job))?.done ?? 0
      prepared.push({ storage, field, job, documents, done: Math.min(done, documents) })
    }
    const after = state === 'due' ? ruleOf({ ...record, name: field }) : undefined
    if (!after) continue
    // The copy would wait behind the job that removes a former name.
    const before = migrationIn(record)
    if (before) await database.capabilities.jobs.cancel(before.job)
    const copy = { changes: {}, after, documents, heldFor: application }
    const begun = migrationIn(await beginCopy(database, record, copy, by))
    prepared.push({ storage, field, job: begun?.job ?? '', documents, done: 0 })
  }
  return prepared
}

/** The former name is the only one again; the job that removes the copies is not waited for. */
export async function removeCopies(database: Database, record: JsonObject, by: Actor): Promise<void> {
  const migration = migrationIn(record)
  if (migration) await beginStep(database, record, { ...migration, step: 'clear' }, by)
}

async function refuseStopped(
  database: Database,
  stopped: readonly RenamedField[],
  by: Actor,
): Promise<never> {
  const [first] = stopped
  const progress = first && (await manyProgress(database, first.job))
  for (const { record } of stopped) await removeCopies(database, record, by)
  throw new QuoinError(
    'CONFLICT',
    `The application cannot be released: storages/${first?.storage}.json: ${progress?.refused} documents refuse the new name ${first?.name}: ${JSON.stringify(progress?.problems[0] ?? '')}. Change or remove them, and push again.`,
  )
}

/** A former release, with the fields that were renamed since: their values go back. */
export function withRenamesBack(
  former: Application,
  { fields }: Pick<PresentApplication, 'fields'>,
): Application {
  const storages = Object.entries(former.storages).map(([storage, value]) => {
    const then = isJsonObject(value.fields) ? value.fields : {}
    const present = fields[storage] ?? {}
    const back = Object.entries(then).map(([name, field]) => {
      const renamed = Object.values(present).find(
        (record) => textsIn(record.former_names).includes(name) && !Object.hasOwn(then, String(record.name)),
      )
      if (present[name] || !renamed || !isJsonObject(field)) return [name, field] as const
      return [name, { ...field, was: String(renamed.name) }] as const
    })
    return [storage, back.length === 0 ? value : { ...value, fields: Object.fromEntries(back) }] as const
  })
  return { ...former, storages: Object.fromEntries(storages) }
}
