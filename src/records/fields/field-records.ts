/** Blueprint fields as records: `{ name, type, description, blueprint_guid, storage, required, default_value, … }`. */

import { invalidField, QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isFreeText } from '../../shared/field-rule.ts'
import { fieldTypeEntries, fieldTypes } from '../../shared/fields/field-type.ts'
import { wordFor } from '../../shared/fields/type-words.ts'
import { numberOf } from '../../shared/fields/value-forms.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { jsonProblem } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { patternProblem } from '../../shared/texts/text-pattern.ts'
import { type Database, documentOf, type Session, storageNameProblem } from '../../storage/database.ts'
import { isOwnStorage, ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import { checkRulesLead } from '../permissions/led-fields.ts'
import { scopeOf } from '../permissions/led-query.ts'
import { ruleProblem } from '../permissions/rule-expression.ts'
import { type Actor, getRecord, notFound } from '../records.ts'
import { fieldExpressionProblem } from './field-expression.ts'
import { MAX_FIELDS, ruleOf, rulesIn } from './field-rules.ts'
import { continueNumbers } from './numbered-fields.ts'
import { keepReference, referenceProblem } from './reference-fields.ts'
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
  computed: null,
  default_expression: null,
  visible_to: null,
  settable_by: null,
}

/**
 * INVALID_BODY naming what does not fit; CONFLICT if the storage has a field of this name, or documents that the field would
 * refuse or that keep it from being unique.
 */
export async function createField(database: Database, input: FieldInput, by: Actor): Promise<JsonObject> {
  const record = checkedField({ ...fieldDefaults, ...withOwnWord(input) })
  await checkFree(database.session(), record, undefined)
  const create = () =>
    transact(
      database,
      async (session) => {
        if ((await session.count(ownStorages.fields, matchAll)) >= MAX_FIELDS)
          throw new QuoinError('CONFLICT', `A cluster holds at most ${MAX_FIELDS} fields. Delete some first.`)
        await checkBlueprint(session, record)
        await checkFree(session, record, undefined)
        await checkWithOthers(session, record, undefined)
        await checkRulesLead(session, { before: undefined, after: ruleOf(record) })
        const fields = { ...record, key: keyOf(record), created_by: { ...by }, modified_by: { ...by } }
        return documentOf(await session.create(ownStorages.fields, setFields(fields)))
      },
      { user: by },
    )
  const change = { before: undefined, after: ruleOf(record) }
  await checkStored(database, change)
  if (!isKept(change)) return create()
  return aloneWithUnique(database, () => changeKept(database, change, create))
}

export async function getField(database: Database, guid: string): Promise<JsonObject> {
  return getRecord(database.session(), ownStorages.fields, guid, 'blueprint field')
}

/** Changes what is given; `validation_rules` and `metadata` as a whole. Errors as when creating, and NOT_FOUND. */
export async function updateField(
  database: Database,
  guid: string,
  changes: FieldInput,
  by: Actor,
): Promise<JsonObject> {
  const change = () =>
    transact(
      database,
      async (session) => {
        const record = await changedRecord(session, guid, changes)
        await checkBlueprint(session, changes)
        await checkFree(session, record, guid)
        await checkWithOthers(session, record, guid)
        const before = ruleOf(await getRecord(session, ownStorages.fields, guid, 'blueprint field'))
        await checkRulesLead(session, { before, after: ruleOf(record) })
        const unique = record.type === 'autonumber' && { unique: true }
        const fields = { ...withOwnWord(changes), ...unique, key: keyOf(record), modified_by: { ...by } }
        const written = await session.update(ownStorages.fields, guid, setFields(fields))
        if (written.outcome !== 'written') throw notFound(guid, 'blueprint field')
        return documentOf(written.document)
      },
      { user: by },
    )
  const now = ruleOf(await getField(database, guid))
  const then = ruleOf(await changedRecord(database.session(), guid, changes))
  await checkStored(database, { before: now, after: then })
  if (!isKept({ before: now, after: then })) return change()
  return aloneWithUnique(database, async () => {
    const session = database.session()
    const before = ruleOf(await getField(database, guid))
    const record = await changedRecord(session, guid, changes)
    await checkFree(session, record, guid)
    return changeKept(database, { before, after: ruleOf(record) }, change)
  })
}

async function changedRecord(session: Session, guid: string, changes: FieldInput): Promise<JsonObject> {
  const { _meta, ...before } = await getRecord(session, ownStorages.fields, guid, 'blueprint field')
  return checkedField({ ...before, ...withOwnWord(changes) })
}

/** Soft delete: its rules no longer count. CONFLICT where what it was unique with would not be unique without it. */
export async function removeField(database: Database, guid: string, by: Actor): Promise<void> {
  const remove = () =>
    transact(
      database,
      async (session) => {
        const before = ruleOf(await getRecord(session, ownStorages.fields, guid, 'blueprint field'))
        await checkRulesLead(session, { before, after: undefined })
        const removed = await session.setRemoved(ownStorages.fields, guid, true)
        if (removed.outcome !== 'written') throw notFound(guid, 'blueprint field')
      },
      { user: by },
    )
  if (!ruleOf(await getField(database, guid))?.unique) return remove()
  return aloneWithUnique(database, async () => {
    const before = ruleOf(await getField(database, guid))
    return changeUnique(database, { before, after: undefined }, remove)
  })
}

/** Whether stored documents have a say in the change. */
function isKept({ before, after }: FieldChange): boolean {
  return [before, after].some((rule) => rule?.unique !== undefined || rule?.reference !== undefined)
}

async function changeKept<T>(database: Database, change: FieldChange, write: () => Promise<T>): Promise<T> {
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

/** The record, if everything in it fits together. */
export function checkedField(record: JsonObject): JsonObject {
  const { name, storage, type } = record
  const nameProblem = typeof name === 'string' ? fieldNameProblem(name) : 'is missing'
  if (nameProblem) throw invalidField('name', `name ${nameProblem}.`)
  if (String(name).split('.')[0] === '_meta')
    throw invalidField('name', 'name begins with _meta, which only the cluster writes.')
  if (typeof storage === 'string') {
    const problem = isOwnStorage(storage) ? 'belongs to Quoin itself' : storageNameProblem(storage)
    if (problem) throw invalidField('storage', `storage ${problem}.`)
  }
  const problem = jsonProblem(record)
  if (problem) throw invalidField('metadata', `The field ${problem}.`)
  const rule = ruleOf(record)
  if (!rule) throw invalidField('type', 'type is not a type of a field.')
  checkLimits(rule)
  checkDefault(rule)
  const wrong = referenceProblem(rule)
  if (wrong) throw invalidField('reference', `reference ${wrong}.`)
  checkAutomatic(rule)
  checkExpressions(rule)
  checkPermissions(rule)
  if (rule.collation !== undefined && !isFreeText(rule))
    throw invalidField('collation', 'collation is of texts only: of the types string, line and long_text.')
  if (rule.unique && rule.storage === undefined)
    throw invalidField('unique', 'unique needs a storage: values are unique among its documents.')
  return type === 'autonumber' ? { ...record, unique: true } : record
}

function checkLimits(rule: FieldRule): void {
  const { type, limits } = rule
  const { limits: known, needs, at } = fieldTypeEntries[type]
  const { places, items } = limits
  for (const [limit, value] of Object.entries(limits)) {
    const place = `validation_rules.${limit}`
    if (!known.some((one) => one === limit))
      throw invalidField(place, `${limit} does not apply to a field of the type ${type}. Leave it out.`)
    const bounds = limit === 'min' || limit === 'max'
    const plain: FieldRule = {
      ...rule,
      required: false,
      limits: { ...(places !== undefined && { places }), ...(items !== undefined && { items }) },
    }
    const misfit = bounds ? fieldValueProblem(plain, value, patternBudget()) : undefined
    if (misfit) throw invalidField(place, `${limit} ${misfit}.`)
    const problem = limit === 'pattern' ? patternProblem(String(value)) : undefined
    if (problem) throw invalidField(place, `The pattern ${problem}.`)
  }
  if (needs !== undefined && limits[needs] === undefined)
    throw invalidField(`validation_rules.${needs}`, `A field of the type ${type} needs ${needs}.`)
  if (isAbove(limits.min_length, limits.max_length) || isAbove(limits.min, limits.max, at))
    throw invalidField('validation_rules', 'The minimum is above the maximum: no value would be valid.')
}

function isAbove(
  least: number | string | undefined,
  most: number | string | undefined,
  at: (value: number | string) => number | undefined = numberOf,
): boolean {
  const [from, to] = [least, most].map((limit) => (limit === undefined ? undefined : at(limit)))
  return from !== undefined && to !== undefined && from > to
}

/** A default that breaks the field's own rules would make every create fail. */
function checkDefault(rule: FieldRule): void {
  if (rule.defaultValue === undefined) return
  const problem = fieldValueProblem(rule, rule.defaultValue, patternBudget())
  if (problem) throw invalidField('default_value', `default_value ${problem}.`)
}

function checkAutomatic(rule: FieldRule): void {
  const { name, storage, type, defaultValue, defaultExpression, computed, unique } = rule
  if (fieldTypeEntries[type].automatic !== true) return
  if (storage === undefined || name.includes('.'))
    throw invalidField('type', `A field of the type ${type} needs a storage, and a name without dots.`)
  if (defaultValue !== undefined || defaultExpression !== undefined || computed !== undefined)
    throw invalidField('type', `A field of the type ${type} has neither a default nor an expression.`)
  if (type === 'autonumber' && unique && unique.key !== name)
    throw invalidField('unique', `A field of the type ${type} is unique by itself. Leave unique out.`)
}

function checkExpressions(rule: FieldRule): void {
  const { storage, type, defaultValue, defaultExpression, computed, reference } = rule
  for (const [kind, text] of [
    ['computed', computed],
    ['default_expression', defaultExpression],
  ] as const) {
    if (text === undefined) continue
    if (storage === undefined) throw invalidField(kind, `${kind} needs a storage: it is about its documents.`)
    const problem = fieldExpressionProblem(text, kind, type)
    if (problem) throw invalidField(kind, `${kind} cannot be used: ${problem}`)
  }
  if (computed !== undefined && reference)
    throw invalidField('computed', 'A field with a reference cannot be computed.')
  const given = [defaultValue, defaultExpression, computed].filter((one) => one !== undefined)
  if (given.length > 1)
    throw invalidField(
      computed === undefined ? 'default_expression' : 'computed',
      'A field has one of default_value, default_expression and computed.',
    )
}

function checkPermissions({ storage, visibleTo, settableBy }: FieldRule): void {
  for (const [name, text] of [
    ['visible_to', visibleTo],
    ['settable_by', settableBy],
  ] as const) {
    if (text === undefined) continue
    if (storage === undefined) throw invalidField(name, `${name} needs a storage: it is about its documents.`)
    const problem = ruleProblem(text, 'field', scopeOf(storage ?? ''), { saved: true })
    if (problem) throw invalidField(name, `${name} cannot be used: ${problem}`)
  }
}

/** What can be told only with the other fields of its storage. */
async function checkWithOthers(
  session: Session,
  record: JsonObject,
  self: string | undefined,
): Promise<void> {
  const rule = ruleOf(record)
  if (rule?.computed === undefined || rule.storage === undefined) return
  const before = self === undefined ? undefined : await session.get(ownStorages.fields, self)
  const replaced = before && ruleOf(documentOf(before))?.name
  const others = await rulesIn(session, rule.storage)
  checkComputed([...others.filter(({ name }) => name !== replaced && name !== rule.name), rule])
}

async function checkBlueprint(session: Session, { blueprint_guid: guid }: JsonObject): Promise<void> {
  if (typeof guid !== 'string' || (await session.get(ownStorages.blueprints, guid))) return
  throw invalidField('blueprint_guid', `There is no blueprint with the guid ${guid}.`)
}

async function checkFree(session: Session, record: JsonObject, self: string | undefined): Promise<void> {
  const same = { kind: 'term', field: 'key', value: keyOf(record) } as const
  const query =
    self === undefined
      ? same
      : ({
          kind: 'and',
          queries: [same, { kind: 'not', query: { kind: 'term', field: '_meta.guid', value: self } }],
        } as const)
  if ((await session.count(ownStorages.fields, query)) === 0) return
  const place = typeof record.storage === 'string' ? `The storage ${record.storage}` : 'The cluster'
  throw new QuoinError('CONFLICT', `${place} has a field ${String(record.name)}. Change that one.`)
}

/** One field of a name for each storage, and one for all. */
function keyOf({ storage, name }: { readonly [key: string]: JsonValue }): string {
  return `${typeof storage === 'string' ? storage : '*'} ${String(name)}`
}
