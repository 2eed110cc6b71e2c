/**
 * Expressions that read a field which gets another name: `computed` and `default_expression` of its storage, its constraints, and rules of
 * all storages.
 */
import { type RenamedPath, renameFields } from '../../expressions/language/rename-fields.ts'
import { type JsonObject, sameJson } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type RuleScope, scopeOf, stepsOf } from '../permissions/reference-query.ts'
import { seeIndexes } from '../permissions/storage-rules.ts'
import type { Actor } from '../records.ts'
import { permissionNames, permissionsIn, referencesFor } from './field-rules.ts'

export interface RenamedField {
  readonly storage: string
  readonly from: string
  readonly to: string
}

/** A record whose expressions read the field, with what they are then. */
export interface Renamed {
  readonly kind: 'field' | 'storage'
  readonly guid: string
  readonly name: string
  /** By the names of the record's fields. */
  readonly changes: JsonObject
}

const MOST = 10_000
const expressions = ['computed', 'default_expression'] as const

export async function renamedExpressions(
  session: Session,
  renamed: RenamedField,
): Promise<readonly Renamed[]> {
  return [...(await inFields(session, renamed)), ...(await inStorages(session, renamed))]
}

/** Storages whose expressions are left as they are: their application says what they are. */
type IsLeft = (storage: string) => boolean

const none: IsLeft = () => false

/** In the transaction in which the new name begins to count. */
export async function renameInExpressions(
  session: Session,
  renamed: RenamedField,
  by: Actor,
  isLeft = none,
): Promise<void> {
  for (const { kind, guid, name, changes } of await renamedExpressions(session, renamed)) {
    if (isLeft(kind === 'field' ? renamed.storage : name)) continue
    const storage = kind === 'field' ? systemStorages.fields : systemStorages.storages
    await session.update(storage, guid, setFields({ ...changes, modified_by: { ...by } }))
  }
}

/** Before the new name counts: lists are searched through these rules from then on. */
export async function ensureRenamedRules(database: Database, renamed: RenamedField): Promise<void> {
  const session = database.session()
  const references = await referencesFor(session)
  for (const { kind, name, changes } of await renamedExpressions(session, renamed)) {
    const rules = kind === 'storage' ? permissionsIn(changes.rules) : undefined
    for (const [storage, indexes] of rules ? seeIndexes(rules, scopeOf(name, references)) : [])
      if (database.has(storage)) await database.ensure(storage, { indexes })
  }
}

async function inFields(session: Session, { storage, from, to }: RenamedField): Promise<readonly Renamed[]> {
  const query: Query = { kind: 'term', field: 'storage', value: storage }
  const { documents } = await session.find(systemStorages.fields, search({ query, limit: MOST }))
  const renamed = readsOf(from, to)
  return objectsIn(documents.value).flatMap((record): Renamed[] => {
    const changes: Record<string, string> = {}
    for (const kind of expressions) {
      const text = record[kind]
      const written = typeof text === 'string' ? renameFields(text, renamed) : text
      if (typeof written === 'string' && written !== text) changes[kind] = written
    }
    if (Object.keys(changes).length === 0) return []
    return [{ kind: 'field', guid: guidOf(record), name: textIn(record.name), changes }]
  })
}

async function inStorages(session: Session, renamed: RenamedField): Promise<readonly Renamed[]> {
  const queries = ['rules', 'constraints'].map((field): Query => ({ kind: 'exists', field }))
  const found = await session.find(
    systemStorages.storages,
    search({ query: { kind: 'or', queries }, limit: MOST }),
  )
  const references = await referencesFor(session)
  return objectsIn(found.documents.value).flatMap((record): Renamed[] => {
    const name = textIn(record.name)
    const changes = {
      ...renamedRules(record, scopeOf(name, references), renamed),
      ...(name === renamed.storage && renamedConstraints(record, renamed)),
    }
    return Object.keys(changes).length === 0 ? [] : [{ kind: 'storage', guid: guidOf(record), name, changes }]
  })
}

function renamedRules(record: JsonObject, scope: RuleScope, renamed: RenamedField): JsonObject {
  const rules = permissionsIn(record.rules)
  if (!rules) return {}
  const written: Record<string, string> = {}
  for (const rule of permissionNames) {
    const text = rules[rule]
    if (text === undefined) continue
    written[rule] = renameFields(text, (first, path) =>
      first === 'doc' ? referencePath(path, scope, renamed) : undefined,
    )
  }
  return permissionNames.every((rule) => written[rule] === rules[rule]) ? {} : { rules: written }
}

function renamedConstraints(record: JsonObject, { from, to }: RenamedField): JsonObject {
  const constraints = objectsIn(record.constraints)
  const written = constraints.map((one) => {
    const field = textIn(one.field)
    const isInside = field === from || field.startsWith(`${from}.`)
    return {
      ...one,
      rule: renameFields(textIn(one.rule), readsOf(from, to)),
      ...(isInside && { field: `${to}${field.slice(from.length)}` }),
    }
  })
  return sameJson(written, constraints) ? {} : { constraints: written }
}

/** Of an expression that reads fields of its own document. */
function readsOf(from: string, to: string) {
  return (name: string, path: readonly string[]) => (name === 'doc' ? pathIn(path, 0, from, to) : undefined)
}

/** Where the field is in a path that may lead through references. */
function referencePath(
  path: readonly string[],
  scope: RuleScope,
  { storage, from, to }: RenamedField,
): RenamedPath | undefined {
  let at = 0
  let present = scope.storage
  for (const step of [...stepsOf(path, scope), undefined]) {
    const found = present === storage ? pathIn(path, at, from, to) : undefined
    if (found || !step) return found
    at += step.field.split('.').length
    present = step.storage
  }
  return undefined
}

function pathIn(path: readonly string[], at: number, from: string, to: string): RenamedPath | undefined {
  const parts = from.split('.')
  if (!parts.every((part, place) => path[at + place] === part)) return undefined
  return { from: at, length: parts.length, keys: to.split('.') }
}
