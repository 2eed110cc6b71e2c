/**
 * Unique fields: what the records of fields say, and the unique keys that the database keeps. The records count: a key that
 * they do not name is dropped, and one that they name is made, also after a change that was cut short.
 *
 * A field becomes unique before its record says so, because documents may keep it from that; it ceases to be after.
 */
import { invalidField } from '../../shared/errors.ts'
import { type FieldRule, textFolding } from '../../shared/field-rule.ts'
import type { Database } from '../../storage/database.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { duplicatesError } from '../../storage/unique/duplicates.ts'
import { isSameKey, type UniqueKey } from '../../storage/unique/unique-key.ts'
import { type FieldRules, rulesIn } from './field-rules.ts'

/** Values of more fields together name nothing that people would call the same. */
const MOST_FIELDS = 8
/** Each costs every write of the storage. */
const MOST_KEYS = 16

/** Only one node at a time changes what is unique. */
export function aloneWithUnique<T>(database: Database, work: () => Promise<T>): Promise<T> {
  return database.capabilities.withClusterLock('unique fields', work)
}

export interface FieldChange {
  /** What the field is now, and will be; undefined for one that is not there. */
  readonly before: FieldRule | undefined
  readonly after: FieldRule | undefined
}

/**
 * Writes a change of a field, and keeps what is unique by it. Throws CONFLICT that lists documents which do not fit, and
 * then nothing is changed. Only within {@link aloneWithUnique}.
 */
export async function changeUnique<T>(
  database: Database,
  { before, after }: FieldChange,
  write: () => Promise<T>,
): Promise<T> {
  const storages = new Set(
    [before, after].flatMap((rule) => (rule?.unique && rule.storage ? [rule.storage] : [])),
  )
  const requested = new Map<string, readonly UniqueKey[]>()
  for (const storage of storages) {
    const others = (await rulesIn(database.session(), storage)).filter(
      ({ name }) => name !== before?.name && name !== after?.name,
    )
    const rules = after?.storage === storage ? [...others, after] : others
    checkNames(rules)
    requested.set(storage, uniqueKeysOf(rules))
  }
  try {
    for (const [storage, keys] of requested) await keepKeys(database, storage, keys)
    const written = await write()
    for (const [storage, keys] of requested)
      await database.capabilities.uniqueValues.dropOthers(storage, keys)
    return written
  } catch (error) {
    // What was changed before it failed. Should that fail too, the next start does it.
    for (const storage of storages) await settleUnique(database, storage).catch(() => undefined)
    throw error
  }
}

/**
 * Puts in force what will be unique by these rules, before they are written. Throws as {@link changeUnique}. `settleUnique` takes it back
 * where they are not written, and drops what they no longer name where they are. Only within {@link aloneWithUnique}.
 */
export async function keepUnique(
  database: Database,
  storage: string,
  rules: readonly FieldRule[],
): Promise<void> {
  checkNames(rules)
  await keepKeys(database, storage, uniqueKeysOf(rules))
}

/** Brings what the database keeps of a storage to what its fields say. Only within {@link aloneWithUnique}. */
export async function settleUnique(database: Database, storage: string): Promise<void> {
  const requested = uniqueKeysOf(await rulesIn(database.session(), storage))
  await keepKeys(database, storage, requested)
  await database.capabilities.uniqueValues.dropOthers(storage, requested)
}

/** For storages where a change was cut short, or that were made behind their fields. */
export async function settleAllUnique(database: Database, rules: FieldRules): Promise<void> {
  for (const storage of database.names()) {
    if (isOwnStorage(storage) || isSettled(database, storage, uniqueKeysOf(await rules.of(storage)))) continue
    await aloneWithUnique(database, () => settleUnique(database, storage))
  }
}

/** The keys that fields of one storage name, in the order of their names. */
export function uniqueKeysOf(rules: readonly FieldRule[]): readonly UniqueKey[] {
  const groups = Map.groupBy(
    rules.filter(({ storage, unique }) => storage !== undefined && unique),
    ({ unique }) => unique?.key ?? '',
  )
  return [...groups]
    .map(([name, members]) => ({ name, fields: members.map(keyField).sort(byName) }))
    .sort(byName)
}

function keyField(rule: FieldRule): UniqueKey['fields'][number] {
  const { name, unique } = rule
  const folding = textFolding(rule)
  if (folding)
    return { name, ignoreCase: true, ignoreAccents: folding.ignoreAccents, collation: folding.collation }
  return { name, ignoreCase: unique?.ignoreCase ?? false, ignoreAccents: unique?.ignoreAccents ?? false }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}

function checkNames(rules: readonly FieldRule[]): void {
  const keys = uniqueKeysOf(rules)
  const mixed = keys.find(
    ({ name, fields }) => fields.length > 1 && fields.some((field) => field.name === name),
  )
  if (mixed)
    throw invalidField(
      'unique',
      `${mixed.name} is the name of a field that is unique by itself. Give fields that are unique together another name.`,
    )
  if (keys.some(({ fields }) => fields.length > MOST_FIELDS))
    throw invalidField('unique', `At most ${MOST_FIELDS} fields can be unique together.`)
  if (keys.length > MOST_KEYS)
    throw invalidField(
      'unique',
      `A storage has at most ${MOST_KEYS} fields or groups of fields that are unique.`,
    )
}

function isSettled({ capabilities }: Database, storage: string, requested: readonly UniqueKey[]): boolean {
  const { uniqueValues } = capabilities
  const active = uniqueValues.of(storage)
  return (
    uniqueValues.unfinished(storage).length === 0 &&
    active.length === requested.length &&
    requested.every((key) => active.some((one) => isSameKey(one, key)))
  )
}

async function keepKeys(database: Database, storage: string, requested: readonly UniqueKey[]): Promise<void> {
  if (!database.has(storage)) return
  const { uniqueValues } = database.capabilities
  for (const key of requested) {
    if (uniqueValues.of(storage).some((one) => isSameKey(one, key))) continue
    const duplicates = await uniqueValues.keep(storage, key)
    if (duplicates) throw duplicatesError(storage, key, duplicates)
  }
}
