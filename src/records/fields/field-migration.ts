/**
 * A change of a field that stored documents follow: `migration` of the field's record. A job goes through the documents, and each
 * write of a document does the same to it, so that a value is never lost in between.
 *
 * States of a field that is renamed from `title` to `headline`
 * - copy: its name is `title`. Each write copies the value to `headline`; the job writes every document that has one. Readers of
 *   `title` notice nothing. All copied → clear, in one transaction with the new name. Taken back → clear of `headline`.
 * - clear: its name is `headline`. Each write removes `title`; the job writes every document that has it. All removed → no migration.
 *   Renamed back → copy to `title`. While it is `isBeside`, writes still copy to `title`, and nothing is removed: nodes go on with
 *   flows that read it until the release has come to each of them. A job finds that out (`field-migrations.ts`).
 * - copy for a release (`heldFor`): all copied → `isCopied`, and the former name still counts. The release of that application takes
 *   the new name in its own transaction → clear. Its next push without the rename → clear of `headline`.
 * - prepare, for a release as `copy` is: values that the release needs, in the field itself, or under another name beside the present
 *   value. Each write makes them, and the job does. All made → `isCopied`. The release takes the field as it has it, and no migration is
 *   left; new documents of flows that do not know it get its value until the same job removes `settling`. Taken back: values under another name are removed; those in the field itself stay.
 * States of a field whose values are converted
 * - convert: the new type counts. Each write converts the value that the document has; the job writes every document whose value
 *   does not fit. None is left → no migration.
 *
 * Where documents were refused, the state stays with `stopped`, and the progress of its job names them.
 */
import type {
  FieldConversion,
  FieldPreparation,
  FieldRule,
  MisfitRule,
  RenamedValue,
} from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'

const migrationSteps = ['copy', 'clear', 'convert', 'prepare'] as const
export type MigrationStep = (typeof migrationSteps)[number]

export interface FieldMigration {
  readonly step: MigrationStep
  /** The field that values are copied to, removed from, or converted in. */
  readonly field: string
  /** The guid of the job. */
  readonly job: string
  /** Documents with a value when the job was stored. */
  readonly documents: number
  readonly stopped: boolean
  /** Of `convert`. */
  readonly conversion?: FieldConversion
  /** Of `prepare`. */
  readonly preparation?: StoredPreparation
  /** Of `clear`. */
  readonly isBeside?: true
  /** Of `clear`: the values go, also where the field has none. */
  readonly isDiscarded?: true
  /** Of `copy`: the application whose release takes the new name. */
  readonly heldFor?: string
  /** All documents have the value under both names, and the release may come. */
  readonly isCopied?: true
}

export interface StoredPreparation extends Pick<FieldPreparation, 'fill' | 'convert'> {
  /** The record of the field, as the release has it. */
  readonly field: JsonObject
  /** The record is there ahead of the release that makes the field. */
  readonly isNew?: true
}

export function migrationIn({ migration }: JsonObject): FieldMigration | undefined {
  if (!isJsonObject(migration)) return undefined
  const { field, job, documents, conversion, preparation } = migration
  const step = migrationSteps.find((one) => one === migration.step)
  if (step === undefined || typeof field !== 'string') return undefined
  return {
    step,
    field,
    job: typeof job === 'string' ? job : '',
    documents: typeof documents === 'number' ? documents : 0,
    stopped: migration.stopped === true,
    ...(typeof migration.held_for === 'string' && { heldFor: migration.held_for }),
    ...(migration.copied === true && { isCopied: true as const }),
    // An earlier version stored a time. Its job comes to documents that still have both names, and begins again without this.
    ...((migration.beside === true || typeof migration.copied_until === 'number') && {
      isBeside: true as const,
    }),
    ...(migration.discarded === true && { isDiscarded: true as const }),
    ...(isJsonObject(conversion) && { conversion: storedConversion(conversion) }),
    ...(isJsonObject(preparation) && { preparation: preparationIn(preparation) }),
  }
}

/** `settling` of a field's record, as a release of a field with a preparation stores it. */
export function storedSettling({ fill, convert }: StoredPreparation, from: string, job: string): JsonObject {
  return { job, from, ...(fill !== undefined && { fill }), ...(convert !== undefined && { convert }) }
}

export function settlingOf({ settling }: JsonObject): Pick<FieldRule, 'settling'> {
  if (!isJsonObject(settling)) return {}
  const { job, from, fill, convert } = settling
  // An earlier version stored a time instead of a job, of five seconds.
  if (typeof job !== 'string' || typeof from !== 'string') return {}
  const values = { ...(fill !== undefined && { fill }), ...(typeof convert === 'string' && { convert }) }
  return { settling: { from, ...values } }
}

function preparationIn({ fill, convert, field, is_new: isNew }: JsonObject): StoredPreparation {
  return {
    field: isJsonObject(field) ? field : {},
    ...(fill !== undefined && { fill }),
    ...(typeof convert === 'string' && { convert }),
    ...(isNew === true && { isNew: true as const }),
  }
}

/** For the record. */
export function storedMigration(migration: FieldMigration): JsonObject {
  const { conversion, heldFor, isCopied, isDiscarded, isBeside, preparation, ...step } = migration
  const { isNew, ...prepared } = preparation ?? {}
  const rest = {
    ...step,
    ...(isBeside && { beside: true }),
    ...(isDiscarded && { discarded: true }),
    ...(preparation && { preparation: { ...prepared, ...(isNew && { is_new: true }) } }),
    ...(heldFor !== undefined && { held_for: heldFor }),
    ...(isCopied && { copied: true }),
  }
  if (!conversion) return rest
  const { timeZone, renamedValues, misfits } = conversion
  const stored = misfits && {
    value: misfits.value,
    ...(misfits.keepIn !== undefined && { keep_in: misfits.keepIn }),
  }
  return {
    ...rest,
    conversion: {
      time_zone: timeZone,
      renamed_values: renamedValues.map((one) => ({ ...one })),
      ...(stored && { misfits: stored }),
    },
  }
}

function storedConversion({ time_zone: zone, renamed_values, misfits }: JsonObject): FieldConversion {
  const rule = misfitRuleOf(misfits)
  return {
    timeZone: typeof zone === 'string' ? zone : 'UTC',
    renamedValues: renamedValuesOf(renamed_values),
    ...(rule && { misfits: rule }),
  }
}

/** As a request and a record say it. */
export function misfitRuleOf(misfits: JsonValue | undefined): MisfitRule | undefined {
  if (!isJsonObject(misfits)) return undefined
  const { value = null, keep_in: keepIn } = misfits
  return { value, ...(typeof keepIn === 'string' && { keepIn }) }
}

export function renamedValuesOf(values: JsonValue | undefined): readonly RenamedValue[] {
  if (!Array.isArray(values)) return []
  return values
    .filter(isJsonObject)
    .flatMap(({ from, to }) => (isChoice(from) && isChoice(to) ? [{ from, to }] : []))
}

function isChoice(value: JsonValue | undefined): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

export function formerNamesOf({ former_names: names }: JsonObject): Pick<FieldRule, 'formerNames'> {
  const known = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  return known.length === 0 ? {} : { formerNames: known }
}

/** Those that no present field has: the names still mean this field. */
export function unusedFormerNames(
  { formerNames = [] }: Pick<FieldRule, 'formerNames'>,
  rules: readonly FieldRule[],
): readonly string[] {
  return formerNames.filter((former) => !rules.some(({ name }) => name === former))
}

export function conversionOf(migration: FieldMigration | undefined): Pick<FieldRule, 'conversion'> {
  return migration?.conversion ? { conversion: migration.conversion } : {}
}

/** What the field is under its second name: hidden and settable as it is, and written by Quoin alone. */
export function secondName(rule: FieldRule, migration: FieldMigration | undefined): FieldRule | undefined {
  if (migration === undefined || migration.step === 'convert' || migration.step === 'prepare')
    return undefined
  const { type, storage, limits, label, order, visibleTo, settableBy, unique, collation, ignores } = rule
  return {
    ...{ name: migration.field, storage, type, limits, required: false, defaultValue: undefined },
    ...(label !== undefined && { label }),
    ...(collation !== undefined && { collation }),
    ...(ignores !== undefined && { ignores }),
    ...(order !== undefined && { order }),
    ...(visibleTo !== undefined && { visibleTo }),
    ...(settableBy !== undefined && { settableBy }),
    // From the start, so that the switch has no document to look at. Fields that are unique together get their key then.
    ...(migration.step === 'copy' &&
      unique?.key === rule.name && { unique: { ...unique, key: migration.field } }),
    ...(migration.step === 'copy' ? { copyOf: rule.name } : { leftOverOf: rule.name }),
    ...(migration.isDiscarded && { isDiscarded: true as const }),
    ...(migration.isBeside && { isBeside: true as const }),
  }
}

/** The rules of a field whose documents get ready for a release. `fitting`: the field as the release has it. */
export function preparedRules(
  rule: FieldRule,
  { field, preparation }: FieldMigration,
  fitting: FieldRule | undefined,
): readonly FieldRule[] {
  if (!preparation || !fitting) return [rule]
  const { field: _, isNew, ...values } = preparation
  const isInPlace = !isNew && rule.name === field
  if (isInPlace) return [{ ...rule, preparation: { ...values, fitting, present: rule } }]
  const { type, storage, limits, visibleTo, settableBy } = fitting
  const ahead: FieldRule = {
    ...{ name: field, storage, type, limits, required: false, defaultValue: undefined },
    ...(visibleTo !== undefined && { visibleTo }),
    ...(settableBy !== undefined && { settableBy }),
    preparation: { ...values, fitting },
  }
  return isNew ? [{ ...ahead, isAhead: true }] : [rule, { ...ahead, copyOf: rule.name }]
}
