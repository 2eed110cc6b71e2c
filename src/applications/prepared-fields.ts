/**
 * Fields whose stored documents get values ahead of a push, by `fill` and `convert`: what the plan says of them, and how far they are.
 * `records/fields/field-migration.ts` has the states, which are those of a renamed field (`renamed-fields.ts`): the push begins a job and is
 * answered; the same push again releases when all documents have their value.
 */
import { beginPreparation, endPreparation } from '../flows/background/field-migrations.ts'
import { manyProgress } from '../records/documents/many-changes.ts'
import {
  type FieldMigration,
  migrationIn,
  preparedRules,
  type StoredPreparation,
} from '../records/fields/field-migration.ts'
import { fieldDefaults } from '../records/fields/field-records.ts'
import { ruleOf } from '../records/fields/field-rules.ts'
import { MOST_NAMED, type PreparationFit, preparationFit } from '../records/fields/prepared-values.ts'
import { refuseOtherVersions, refuseOverlap, refuseTaken } from '../records/fields/rename-field.ts'
import type { Actor } from '../records/records.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { type ObjectChange, withoutConversion } from '../shared/application/application-changes.ts'
import { bodyOfPart } from '../shared/application/application-parts.ts'
import { QuoinError } from '../shared/errors.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { isJsonObject, type JsonObject, memberOf, sameJson } from '../shared/json.ts'
import type { Database } from '../storage/database.ts'
import type { PresentApplication } from './present-application.ts'
import type { PreparedField } from './renamed-fields.ts'

type PresentFields = Pick<PresentApplication, 'fields' | 'ahead'>

export interface PreparedValues {
  readonly storage: string
  readonly name: string
  /** Of which field the values are made, where it has another name. */
  readonly was: string | undefined
  /** Of the field, or of the one that a former push made ahead; undefined where there is none. */
  readonly record: JsonObject | undefined
  readonly preparation: StoredPreparation
  readonly state: 'due' | 'preparing' | 'prepared' | 'stopped'
  readonly migration: FieldMigration | undefined
}

/** Those that the changes ask for. Where a field stays as it is, the words say nothing. */
export async function preparedValues(
  database: Database,
  { fields, ahead }: PresentFields,
  requested: Application,
  changes: readonly ObjectChange[],
): Promise<readonly PreparedValues[]> {
  const found: PreparedValues[] = []
  for (const { map, object: storage, change, parts } of changes)
    for (const { kind, name, was, change: what } of map === 'storages' && change === 'changed' ? parts : []) {
      const isOther =
        kind !== 'field' ||
        what === 'removed' ||
        found.some((one) => one.storage === storage && one.name === name)
      const field = isOther ? undefined : fieldIn(requested, storage, name)
      if (!field || (field.fill === undefined && field.convert === undefined) || !database.has(storage))
        continue
      const known = fields[storage]?.[was ?? name]
      const record = known ?? ahead[storage]?.[name]
      const preparation = preparationOf(storage, name, field, known === undefined)
      const migration = record && migrationIn(record)
      const isBegun = migration?.step === 'prepare' && migration.field === name
      const isSame = isBegun && sameJson(plain(migration.preparation), plain(preparation))
      const state = isSame ? await stateOf(database, migration) : 'due'
      found.push({
        storage,
        name,
        was,
        record,
        preparation,
        state,
        migration: isSame ? migration : undefined,
      })
    }
  return found
}

function fieldIn({ storages }: Application, storage: string, name: string): JsonObject | undefined {
  const fields = storages[storage]?.fields
  const field = isJsonObject(fields) ? memberOf(fields, name) : undefined
  return isJsonObject(field) ? field : undefined
}

function preparationOf(storage: string, name: string, field: JsonObject, isNew: boolean): StoredPreparation {
  const { fill, convert } = field
  const body = withoutConversion(bodyOfPart({ storage, name, ...field }))
  return {
    field: { ...fieldDefaults, ...(isJsonObject(body) ? body : {}) },
    ...(fill !== undefined && { fill }),
    ...(typeof convert === 'string' && { convert }),
    ...(isNew && { isNew: true as const }),
  }
}

function plain(value: StoredPreparation | undefined): JsonObject {
  return JSON.parse(JSON.stringify(value ?? {}))
}

async function stateOf(database: Database, { isCopied, stopped, job }: FieldMigration) {
  if (isCopied) return 'prepared'
  if (stopped) return 'stopped'
  const state = (await database.capabilities.jobs.get(job))?.state
  return state === 'waiting' || state === 'running' ? 'preparing' : 'due'
}

/** Preparations that a push of the application began, and that this one does not want. */
export function leftPreparations(
  { fields, ahead }: PresentFields,
  requested: Application,
  prepared: readonly PreparedValues[],
): readonly { readonly storage: string; readonly record: JsonObject; readonly migration: FieldMigration }[] {
  const found = [fields, ahead].flatMap((map) =>
    Object.entries(map).flatMap(([storage, records]) =>
      Object.values(requested.storages[storage] ? records : {}).flatMap((record) => {
        const migration = migrationIn(record)
        if (migration?.step !== 'prepare' || migration.heldFor !== nameOfApplication(requested)) return []
        const isRequested = prepared.some((one) => one.record === record && one.name === migration.field)
        return isRequested ? [] : [{ storage, record, migration }]
      }),
    ),
  )
  const place = ({ storage, migration }: (typeof found)[number]) => `${storage} ${migration.field}`
  return found.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
}

export interface PreparationPlan {
  readonly steps: readonly string[]
  readonly refused: readonly string[]
  readonly lost: readonly string[]
  /** Those for which documents are to be written. */
  readonly due: readonly PreparedValues[]
}

/** Looks at every document: not asked while a job goes through them. */
export async function planPreparations(
  database: Database,
  prepared: readonly PreparedValues[],
  left: ReturnType<typeof leftPreparations>,
): Promise<PreparationPlan> {
  const [steps, refused, lost, due]: [string[], string[], string[], PreparedValues[]] = [[], [], [], []]
  for (const one of prepared) {
    const { storage, name, was } = one
    const file = `storages/${storage}.json`
    const problem = await problemOf(database, one)
    if (problem !== undefined) refused.push(`${file}: ${problem}`)
    const rule = problem === undefined ? ruleIn(one) : undefined
    if (!rule?.preparation) continue
    const fit = await preparationFit(database, rule, rule.preparation)
    if (fit.total > 0) refused.push(misfitText(file, name, fit))
    if (fit.filled + fit.converted === 0) continue
    if (one.state !== 'prepared') due.push(one)
    steps.push(stepText(one, fit))
    if (was === undefined && fit.converted > 0)
      lost.push(
        `${file}: ${fit.converted} documents lose their former value of ${name}. To leave it in them, give the field another name, with "was": ${JSON.stringify(name)}.`,
      )
  }
  for (const { storage, record, migration } of left) {
    const { field } = migration
    steps.push(
      field === record.name
        ? `the values of ${field} that a former push gave to documents of ${storage} stay`
        : `the values of ${String(record.name)} that a former push converted to ${field} in ${storage} are removed`,
    )
  }
  return { steps, refused, lost, due }
}

/** Names the first documents, so that they can be looked at. `documents`: of how many, where that is known. */
export function misfitText(
  file: string,
  name: string,
  { total, documents, first }: Pick<PreparationFit, 'total' | 'first'> & { readonly documents?: number },
): string {
  const of = documents === undefined ? '' : ` of ${documents}`
  const guids = first.slice(0, MOST_NAMED).map(({ guid }) => guid)
  return `${file}: ${total}${of} stored documents do not fit: ${name} ${first[0]?.problem} (first: ${guids.join(', ')}).`
}

function stepText(
  { storage, name, was, state }: PreparedValues,
  { filled, converted, dropped }: PreparationFit,
): string {
  const parts = [
    ...(filled > 0 ? [`${filled} documents of ${storage} get a value of ${name}`] : []),
    ...(converted > 0
      ? [
          was === undefined
            ? `${converted} documents of ${storage} get another value of ${name}`
            : `${converted} documents of ${storage} get ${name} from their value of ${was}, which stays`,
        ]
      : []),
    ...(dropped > 0 ? [`${dropped} get none`] : []),
  ]
  const again = state === 'prepared' ? ', written since the others had theirs' : ''
  return `${parts.join(', ')}${again}, while the present release serves`
}

/** The rule by which documents are written, as it is or will be while they get ready. */
function ruleIn({ record, preparation, name }: PreparedValues): FieldRule | undefined {
  const fitting = ruleOf(preparation.field)
  const rule = preparation.isNew ? fitting : record && ruleOf(record)
  if (!rule || !fitting) return undefined
  const migration = { step: 'prepare', field: name, job: '', documents: 0, stopped: false } as const
  const rules = preparedRules(rule, { ...migration, preparation }, fitting)
  return rules.find((one) => one.preparation)
}

/** What keeps documents from getting a value at all. */
async function problemOf(database: Database, one: PreparedValues): Promise<string | undefined> {
  const { storage, name, was, record, preparation, migration } = one
  const begun = record && migrationIn(record)
  if (begun && begun.heldFor === undefined)
    return `documents follow a change of the field ${String(record.name)}. Wait until it has ended.`
  if (begun && begun.field !== name)
    return `a former push gives documents ${begun.field} from ${String(record.name)}. Use that name, or push once without the conversion.`
  // Filled and converted values cannot be told from others: a second fill or convert would leave them without a word.
  if (begun && !migration && was === undefined)
    return `a former push gave documents their values of ${name} by another fill or convert. Push once without it, which leaves them, or give the field another name.`
  if (preparation.convert !== undefined && record === undefined)
    return `convert of ${name} needs a stored field: name it with "was".`
  try {
    await refuseOtherVersions(database)
    if (was === undefined || migration || begun) return undefined
    refuseOverlap(was, name)
    await refuseTaken(database, storage, name)
    return undefined
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return error.message
  }
}

/** Begins what is due, and tells how far the rest is. CONFLICT where documents get no value: all of it is taken back then. */
export async function prepareValues(
  database: Database,
  prepared: readonly PreparedValues[],
  application: string,
  by: Actor,
): Promise<readonly PreparedField[]> {
  const stopped = prepared.filter((one) => one.state === 'stopped')
  if (stopped.length > 0) await refuseStopped(database, stopped, by)
  const progress: PreparedField[] = []
  for (const { storage, name: field, record, preparation, state, migration } of prepared) {
    if (state === 'preparing') {
      const { done = 0, total = 0 } = (await manyProgress(database, migration?.job ?? '')) ?? {}
      progress.push({ storage, field, job: migration?.job ?? '', documents: total, done })
    }
    if (state !== 'due') continue
    const before = record && migrationIn(record)
    if (before) await database.capabilities.jobs.cancel(before.job)
    const documents = await database.session().count(storage, { kind: 'all' })
    const step = { step: 'prepare', field, documents, heldFor: application, preparation } as const
    const begun = migrationIn(await beginPreparation(database, record, step, by))
    progress.push({ storage, field, job: begun?.job ?? '', documents, done: 0 })
  }
  return progress
}

async function refuseStopped(
  database: Database,
  stopped: readonly PreparedValues[],
  by: Actor,
): Promise<never> {
  const reasons: string[] = []
  for (const one of stopped) {
    const file = `storages/${one.storage}.json`
    const rule = ruleIn(one)
    const fit = rule?.preparation && (await preparationFit(database, rule, rule.preparation))
    const refused = (await manyProgress(database, one.migration?.job ?? ''))?.problems[0]
    if (fit && fit.total > 0) reasons.push(misfitText(file, one.name, fit))
    else if (refused)
      reasons.push(`${file}: a document refuses its value of ${one.name}: ${JSON.stringify(refused)}.`)
  }
  for (const { record } of stopped) if (record) await endPreparation(database, record, by)
  throw new QuoinError(
    'CONFLICT',
    `The application cannot be released: ${reasons[0] ?? 'documents were changed meanwhile.'} Change or remove them, and push again.`,
    { details: { problems: reasons } },
  )
}
