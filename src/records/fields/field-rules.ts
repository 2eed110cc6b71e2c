/**
 * The rules of all blueprint fields, in memory. They are read again when their storage's version says that one was
 * written, on this node or another; if they cannot be read yet, the next write tries again.
 *
 * A field without a storage applies to its field name in every storage, but demands nothing of documents that do not
 * have it: `required` then means that it cannot be set empty, and there is no default. A field with a storage applies to
 * that storage only, and takes precedence over the other.
 */

import {
  type FieldReference,
  type FieldRule,
  type FieldsOf,
  type FieldUnique,
  onDeletes,
} from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import { isFieldType, isItemType } from '../../shared/fields/field-type.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { type Query, search } from '../../shared/query.ts'
import { collations } from '../../shared/texts/collations.ts'
import type { Database, Session } from '../../storage/database.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { type References, referencesIn } from '../../storage/reference/references.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type Constraint, constraintsIn } from './constraints.ts'
import {
  conversionOf,
  formerNamesOf,
  migrationIn,
  preparedRules,
  secondName,
  settlingOf,
} from './field-migration.ts'

const plain = { ignoreCase: false, ignoreAccents: false }

/** They are all kept in memory. */
export const MAX_FIELDS = 10_000
const MAX_STORAGES = 10_000

export interface FieldRules {
  /** Whether no field has a rule, as far as is known without reading: never true when one has. */
  none(): boolean
  /** Whether no storage or field says who may do what, as far as is known without reading: never true when one does. */
  noPermissions(): boolean
  /** The same list each time until a field changes. */
  of(storage: string): MaybePromise<readonly FieldRule[]>
  /** With whether the storage is closed: its documents have no other fields. */
  storageRules(storage: string): MaybePromise<StorageRules>
  /** The same, if nothing has to be read for it: undefined when a field was written since. */
  known(storage: string): StorageRules | undefined
  /** The rules as they are now, of every storage; later changes do not show in it. */
  present(): MaybePromise<FieldsOf>
  /** Whether a field may be a reference, as far as is known without reading: never false when one is. */
  refer(): boolean
  references(): MaybePromise<References>
  /** The rules of the storages that have some, by name. */
  permissions(): MaybePromise<ReadonlyMap<string, StoragePermissions>>
}

export interface StorageRules {
  readonly rules: readonly FieldRule[]
  readonly closed: boolean
  /** Conditions between its fields that bind every writer. */
  readonly constraints?: readonly Constraint[]
  /** Who may do what with its documents: expressions, by the names of the four rules. */
  readonly permissions?: StoragePermissions
  /** Through which its rules lead to other documents. */
  readonly references?: References
  /** Of all storages, as they were read together. */
  readonly fieldsOf?: (storage: string) => readonly FieldRule[]
}

export const permissionNames = ['see', 'create', 'change', 'remove'] as const
export type PermissionName = (typeof permissionNames)[number]
export type StoragePermissions = Readonly<Partial<Record<PermissionName, string>>>

/** Of the storages that the rules are read from. */
interface Versions {
  readonly fields: number
  readonly storages: number
}

interface Loaded {
  readonly versions: Versions
  readonly closed: ReadonlySet<string>
  /** By storage, of those that have some. */
  readonly constraints: ReadonlyMap<string, readonly Constraint[]>
  /** By storage. */
  readonly permissions: ReadonlyMap<string, StoragePermissions>
  readonly noPermissions: boolean
  /** Of fields that count everywhere, by name. */
  readonly everywhere: ReadonlyMap<string, FieldRule>
  /** By storage; made when a storage is first written to. */
  readonly byStorage: Map<string, StorageRules>
  readonly all: readonly FieldRule[]
  readonly references: References
}

/** Creates the storage of fields if it does not exist, and reads the fields. */
export async function openFieldRules(database: Database): Promise<FieldRules> {
  await ensureRules(database)
  const { changes } = database.capabilities
  // Nothing to do: that they were written shows in their versions. They are watched for the life of the storage.
  for (const name of [systemStorages.fields, systemStorages.storages]) changes.watch(name, () => undefined)
  let loaded: Loaded | undefined

  /** What was read, if nothing was written since. */
  function current(): Loaded | undefined {
    if (loaded?.versions.fields !== changes.version(systemStorages.fields)) return undefined
    return loaded.versions.storages === changes.version(systemStorages.storages) ? loaded : undefined
  }

  function load(): MaybePromise<Loaded> {
    const known = current()
    if (known) return known
    // Asked before reading: what is written meanwhile makes the next write read again.
    const versions = {
      fields: changes.version(systemStorages.fields),
      storages: changes.version(systemStorages.storages),
    }
    const session = database.session()
    return andThen(session.find(systemStorages.fields, search({ limit: MAX_FIELDS })), (fields) =>
      andThen(
        session.find(systemStorages.storages, search({ query: withRules, limit: MAX_STORAGES })),
        (storages) => {
          loaded = loadedFrom(
            versions,
            objectsIn(fields.documents.value),
            objectsIn(storages.documents.value),
          )
          return loaded
        },
      ),
    )
  }

  await load()
  return {
    none() {
      const known = current()
      return known !== undefined && known.all.length === 0 && known.closed.size + known.constraints.size === 0
    },
    noPermissions: () => current()?.noPermissions === true,
    of: (name) => andThen(load(), (rules) => retainedOf(name, rules).rules),
    storageRules: (name) => andThen(load(), (rules) => retainedOf(name, rules)),
    known(name) {
      const rules = current()
      return rules && retainedOf(name, rules)
    },
    refer: () => current()?.references.none !== true,
    references: () => andThen(load(), ({ references }) => references),
    permissions: () => andThen(load(), ({ permissions }) => permissions),
    present: () => andThen(load(), presentIn),
  }
}

async function ensureRules(database: Database): Promise<void> {
  await database.ensure(systemStorages.fields, {
    indexes: [{ fields: ['key'], unique: true }, { fields: ['storage'] }],
    text: true,
  })
  await database.ensure(systemStorages.storages, {
    indexes: [{ fields: ['name'], unique: true }],
    text: true,
  })
}

/** The rules as this session sees them, with what it has written. */
export async function fieldsIn(session: Session): Promise<FieldsOf> {
  const fields = await session.find(systemStorages.fields, search({ limit: MAX_FIELDS }))
  const storages = await session.find(
    systemStorages.storages,
    search({ query: withRules, limit: MAX_STORAGES }),
  )
  const none = { fields: 0, storages: 0 }
  return presentIn(loadedFrom(none, objectsIn(fields.documents.value), objectsIn(storages.documents.value)))
}

function presentIn(rules: Loaded): FieldsOf {
  return Object.assign((name: string) => retainedOf(name, rules).rules, {
    isClosed: (name: string) => rules.closed.has(name),
  })
}

/** What fields and storages say, by the storage that asks. */
function loadedFrom(
  versions: Loaded['versions'],
  fields: readonly JsonObject[],
  storages: readonly JsonObject[],
): Loaded {
  const all = fields.flatMap(rulesOf)
  const everywhere = all.filter((rule) => rule.storage === undefined)
  const permissions = new Map(
    storages.flatMap(({ name, rules }) => {
      const input = permissionsIn(rules)
      return input ? [[textIn(name), input] as const] : []
    }),
  )
  const constraints = storages.flatMap(({ name, constraints }) => {
    const input = constraintsIn(constraints)
    return input.length > 0 ? [[textIn(name), input] as const] : []
  })
  return {
    versions,
    all,
    closed: new Set(storages.filter(({ closed }) => closed === true).map(({ name }) => textIn(name))),
    permissions,
    constraints: new Map(constraints),
    noPermissions: permissions.size === 0 && !all.some(isPermitted),
    everywhere: new Map(everywhere.map((rule) => [rule.name, rule])),
    byStorage: new Map(),
    references: referencesIn(all),
  }
}

const withRules: Query = {
  kind: 'or',
  queries: [
    { kind: 'term', field: 'closed', value: true },
    { kind: 'exists', field: 'rules' },
    { kind: 'exists', field: 'constraints' },
  ],
}

function isPermitted({ visibleTo, settableBy }: FieldRule): boolean {
  return visibleTo !== undefined || settableBy !== undefined
}

/** The rules of a stored storage; undefined when it has none. */
export function permissionsIn(rules: JsonValue | undefined): StoragePermissions | undefined {
  if (!isJsonObject(rules)) return undefined
  const input = permissionNames.flatMap((name) => {
    const text = rules[name]
    return typeof text === 'string' ? [[name, text] as const] : []
  })
  return input.length === 0 ? undefined : Object.fromEntries(input)
}

function retainedOf(name: string, loaded: Loaded): StorageRules {
  const { all, everywhere, closed, permissions, constraints, references, byStorage } = loaded
  const known = byStorage.get(name)
  if (known) return known
  const input = permissions.get(name)
  const rules = new Map(everywhere)
  for (const rule of all) if (rule.storage === name) rules.set(rule.name, rule)
  const retained = {
    rules: [...rules.values()].sort(byOrder),
    closed: closed.has(name),
    references,
    fieldsOf: (other: string) => retainedOf(other, loaded).rules,
    ...(input && { permissions: input }),
    ...(constraints.has(name) && { constraints: constraints.get(name) ?? [] }),
  }
  byStorage.set(name, retained)
  return retained
}

/** Of the fields that name the storage, as the session sees them. */
export async function rulesIn(session: Session, storage: string): Promise<readonly FieldRule[]> {
  const query = { kind: 'term', field: 'storage', value: storage } as const
  const { documents } = await session.find(systemStorages.fields, search({ query, limit: MAX_FIELDS }))
  return objectsIn(documents.value).flatMap(rulesOf)
}

/** Of all storages, as the session sees them. */
export async function referencesFor(session: Session): Promise<References> {
  const query = { kind: 'exists', field: 'reference.storage' } as const
  const { documents } = await session.find(systemStorages.fields, search({ query, limit: MAX_FIELDS }))
  return referencesIn(objectsIn(documents.value).flatMap((record) => ruleOf(record) ?? []))
}

function byOrder(a: FieldRule, b: FieldRule): number {
  const [one, other] = [a.order ?? Infinity, b.order ?? Infinity]
  return one === other ? 0 : one - other
}

/** A stored field as a rule; undefined for a record that this version cannot read. */
export function ruleOf(record: JsonObject): FieldRule | undefined {
  const { name, storage, type, required } = record
  if (typeof name !== 'string' || !isFieldType(type)) return undefined
  return {
    name,
    storage: typeof storage === 'string' ? storage : undefined,
    type,
    required: required === true,
    defaultValue: record.default_value ?? undefined,
    limits: limitsOf(record.validation_rules),
    ...uniqueOf(name, record.unique),
    ...referenceOf(record.reference),
    ...collationOf(record.collation),
    ...ignoresOf(record),
    ...shownAs(record),
    ...expressionsOf(record),
    ...permittedOf(record),
    ...formerNamesOf(record),
    ...conversionOf(migrationIn(record)),
    ...settlingOf(record),
  }
}

/** The field, and its second name while it is renamed: what is hidden or refused under one name is so under the other. */
function rulesOf(record: JsonObject): readonly FieldRule[] {
  const rule = ruleOf(record)
  if (!rule) return []
  const migration = migrationIn(record)
  if (migration?.preparation) return preparedRulesOf(record)
  const second = secondName(rule, migration)
  return second ? [rule, second] : [rule]
}

/** Of a field whose documents get ready for a release. */
export function preparedRulesOf(record: JsonObject): readonly FieldRule[] {
  const [rule, migration] = [ruleOf(record), migrationIn(record)]
  if (!rule || !migration) return []
  return preparedRules(rule, migration, ruleOf(migration.preparation?.field ?? {}))
}

function permittedOf({ visible_to, settable_by }: JsonObject): Pick<FieldRule, 'visibleTo' | 'settableBy'> {
  return {
    ...(typeof visible_to === 'string' && { visibleTo: visible_to }),
    ...(typeof settable_by === 'string' && { settableBy: settable_by }),
  }
}

function expressionsOf({ computed, default_expression }: JsonObject): Partial<FieldRule> {
  return {
    ...(typeof computed === 'string' && { computed }),
    ...(typeof default_expression === 'string' && { defaultExpression: default_expression }),
  }
}

function shownAs({ label, help, order }: JsonObject): Pick<FieldRule, 'label' | 'help' | 'order'> {
  return {
    ...(typeof label === 'string' && label !== '' && { label }),
    ...(typeof help === 'string' && help !== '' && { help }),
    ...(typeof order === 'number' && { order }),
  }
}

function uniqueOf(name: string, unique: JsonValue | undefined): { readonly unique?: FieldUnique } {
  if (unique === true) return { unique: { key: name, ...plain } }
  if (typeof unique === 'string') return { unique: { key: unique, ...plain } }
  if (!isJsonObject(unique)) return {}
  const { with: shared, ignore_case, ignore_accents } = unique
  return {
    unique: {
      key: typeof shared === 'string' ? shared : name,
      ignoreCase: ignore_case === true,
      ignoreAccents: ignore_accents === true,
    },
  }
}

function referenceOf(reference: JsonValue | undefined): { readonly reference?: FieldReference } {
  if (!isJsonObject(reference) || typeof reference.storage !== 'string') return {}
  const onDelete = onDeletes.find((one) => one === reference.on_delete) ?? 'refuse'
  return { reference: { storage: reference.storage, onDelete } }
}

function collationOf(name: JsonValue | undefined): Pick<FieldRule, 'collation'> {
  const collation = collations.find((one) => one === name)
  return collation === undefined ? {} : { collation }
}

function ignoresOf({ ignore_case, ignore_accents }: JsonObject): Pick<FieldRule, 'ignores'> {
  return ignore_case === true ? { ignores: ignore_accents === true ? 'accents' : 'case' } : {}
}

function limitsOf(rules: JsonValue | undefined): FieldLimits {
  if (!isJsonObject(rules)) return {}
  const { min, max, min_length, max_length, pattern, choices, places, currency, start, items } = rules
  return {
    ...(isBound(min) && { min }),
    ...(isBound(max) && { max }),
    ...(typeof min_length === 'number' && { min_length }),
    ...(typeof max_length === 'number' && { max_length }),
    ...(typeof pattern === 'string' && { pattern }),
    ...(Array.isArray(choices) && { choices: choices.filter(isBound) }),
    ...(typeof places === 'number' && { places }),
    ...(typeof currency === 'string' && { currency }),
    ...(typeof start === 'number' && { start }),
    ...(isItemType(items) && { items }),
  }
}

function isBound(value: JsonValue | undefined): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
