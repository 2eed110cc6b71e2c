/** Collections of PocketBase as it exports them: those of 0.23 and later have `fields`, those before `schema` and `options`. */
import type { FieldLimits } from '../../../shared/fields/field-limits.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { numberIn, objectsIn, textIn, textsIn } from '../../../storage/document-fields.ts'
import { distinctNames, fieldNameFor, shownName, storageNameFor } from '../fitting-names.ts'
import { MOST_COLUMNS, MOST_TABLES, type SourceField } from '../source.ts'
import { type Collection, type CollectionColumn, instantIn, nothingIfEmpty } from './collection.ts'
import type { KindsOf } from './record-folder.ts'

export interface PlannedCollection extends Omit<Collection, 'items'> {
  readonly id: string
}

/** `left`: is told of what cannot be said. */
export function pocketBaseCollections(
  records: readonly JsonObject[],
  kindsOf: KindsOf,
  left: (line: string) => void,
  hasFiles: boolean,
): readonly PlannedCollection[] {
  const isOwn = ({ name, system }: JsonObject) => system === true && textIn(name).startsWith('_')
  const usable = records.filter((one) => {
    if (isOwn(one)) return false
    if (one.type === 'view') left(`${shownName(textIn(one.name))} is left out: it is a view.`)
    return one.type !== 'view' && typeof one.name === 'string'
  })
  if (usable.length === 0) throw new Error('has no collections')
  if (usable.length > MOST_TABLES) throw new Error(`has more than ${MOST_TABLES} collections`)
  const distinct = distinctNames()
  const storages = new Map<string, string>()
  for (const [at, { id, name }] of usable.entries())
    storages.set(textIn(id), distinct(storageNameFor(textIn(name), at + 1)))
  return usable.map((record) => collectionOf(record, { storages, kindsOf, left, hasFiles }))
}

interface SchemaContext {
  /** Id of a collection → its storage. */
  readonly storages: ReadonlyMap<string, string>
  readonly kindsOf: KindsOf
  readonly left: (line: string) => void
  /** Files of records are a part of the source. */
  readonly hasFiles: boolean
}

function collectionOf(record: JsonObject, context: SchemaContext): PlannedCollection {
  const title = textIn(record.name)
  const fields = fieldsIn(record)
  if (fields.length > MOST_COLUMNS)
    throw new Error(`${shownName(title)} has more than ${MOST_COLUMNS} fields`)
  const uniques = uniqueFields(record, title, context.left)
  const distinct = distinctNames()
  const columns = fields.flatMap((field, at) => {
    const source = textIn(field.name)
    const name = distinct(fieldNameFor(source, at + 1))
    const column = columnOf(field, name, title, context)
    if (!column) return []
    const unique = source === 'id' ? true : uniques.get(source)
    if (unique === undefined) return [column]
    // Empty texts may repeat there.
    return [{ read: nothingIfEmpty, ...column, field: { ...column.field, unique } }]
  })
  const rules = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule'].filter(
    (rule) => record[rule] !== null && record[rule] !== undefined,
  )
  if (rules.length > 0)
    context.left(
      `${shownName(title)}: not taken over: ${rules.join(', ')}. Say who may do what in the rules of the storage.`,
    )
  if (record.type === 'auth')
    context.left(
      `${shownName(title)}: its records become documents, and users of Quoin who keep their passwords only with --users.`,
    )
  return {
    id: textIn(record.id),
    title,
    storage: context.storages.get(textIn(record.id)) ?? '',
    key: 'id',
    columns,
  }
}

/** In the form of 0.23, with the fields that older ones do not list. */
function fieldsIn(record: JsonObject): readonly JsonObject[] {
  if (Array.isArray(record.fields)) return objectsIn(record.fields)
  const auth = record.type === 'auth' ? authFields : []
  const own = objectsIn(record.schema).map(({ options, ...field }) => ({
    ...objectsIn([options ?? {}])[0],
    ...field,
  }))
  return [
    { name: 'id', type: 'text' },
    ...auth,
    ...own,
    { name: 'created', type: 'autodate' },
    { name: 'updated', type: 'autodate' },
  ]
}

const authFields: readonly JsonObject[] = [
  { name: 'username', type: 'text' },
  { name: 'email', type: 'email' },
  { name: 'emailVisibility', type: 'bool' },
  { name: 'verified', type: 'bool' },
]

const secrets = new Set(['password', 'passwordHash', 'tokenKey', 'lastResetSentAt', 'lastVerificationSentAt'])

function columnOf(
  field: JsonObject,
  name: string,
  title: string,
  context: SchemaContext,
): CollectionColumn | undefined {
  const source = textIn(field.name)
  const say = (line: string) => context.left(`${shownName(title)}: ${shownName(source)} ${line}.`)
  if (field.type === 'password' || secrets.has(source)) {
    if (field.type === 'password') say('is left out of documents')
    return undefined
  }
  const base = {
    name,
    ...(name !== source && { label: source }),
    ...(field.required === true && { required: true }),
  }
  const made = (more: Omit<SourceField, 'name'>, read?: CollectionColumn['read']): CollectionColumn => ({
    source,
    field: { ...base, ...more },
    ...(read && { read }),
  })
  const isList = numberIn(field.maxSelect) > 1 || (field.maxSelect === null && field.type === 'relation')
  switch (field.type) {
    case 'text':
      return made({ type: 'string', limits: lengths(field) })
    case 'editor':
      return made({ type: 'long_text' })
    case 'number':
      return made({
        type: field.onlyInt === true || field.noDecimal === true ? 'integer' : 'number',
        limits: range(field),
      })
    case 'bool':
      // Required means true there.
      return made({ type: 'boolean', required: false }, (value) =>
        typeof value === 'number' ? value !== 0 : value,
      )
    case 'email':
    case 'url':
      return made({ type: field.type }, nothingIfEmpty)
    case 'date':
    case 'autodate':
      return made({ type: 'instant', required: field.type === 'date' && field.required === true }, instantIn)
    case 'select':
      return select(field, made, isList)
    case 'relation':
      return relation(field, made, isList, say, context)
    case 'file':
      return file(made, isList, say, context)
    case 'geoPoint':
      return made({ type: 'object' }, jsonIn)
    default:
      return jsonColumn(made, context.kindsOf(title, source), say)
  }
}

type Made = (more: Omit<SourceField, 'name'>, read?: CollectionColumn['read']) => CollectionColumn
type Say = (line: string) => void

function select(field: JsonObject, made: Made, isList: boolean): CollectionColumn {
  const limits = { choices: textsIn(field.values) }
  return isList ? made({ type: 'choices', limits }, listIn) : made({ type: 'choice', limits }, nothingIfEmpty)
}

function relation(
  field: JsonObject,
  made: Made,
  isList: boolean,
  say: Say,
  { storages }: SchemaContext,
): CollectionColumn {
  const target = storages.get(textIn(field.collectionId))
  if (target === undefined) {
    say('refers to a collection that is not imported: it stays a plain value')
    return isList
      ? made({ type: 'list', limits: { items: 'string' } }, listIn)
      : made({ type: 'string' }, nothingIfEmpty)
  }
  if (!isList) return made({ type: 'reference', refersTo: target }, nothingIfEmpty)
  say(`refers to several records of ${target}: it is a list of their guids, which nothing holds`)
  return { ...made({ type: 'list', limits: { items: 'string' } }, listIn), listOf: target }
}

/** Not required: a record whose file is missing is imported all the same. */
function file(made: Made, isList: boolean, say: Say, { hasFiles }: SchemaContext): CollectionColumn {
  const read = isList ? listIn : nothingIfEmpty
  if (hasFiles) return { ...made({ type: isList ? 'files' : 'file', required: false }, read), isFile: true }
  say('has the names of files, which are not taken over')
  return isList ? made({ type: 'list', limits: { items: 'string' } }, read) : made({ type: 'string' }, read)
}

function jsonColumn(made: Made, kinds: ReadonlySet<string>, say: Say): CollectionColumn {
  const [kind = 'object', ...others] = kinds
  if (others.length === 0 && kind === 'object') return made({ type: 'object' }, jsonIn)
  if (others.length === 0 && kind === 'array') return made({ type: 'array' }, jsonIn)
  say('is text here: its values are not all objects, or all lists')
  return made({ type: 'string' }, (value) => (typeof value === 'string' ? value : JSON.stringify(value)))
}

/** Of the database: JSON as text. */
function jsonIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  if (value === '' || value === 'null') return null
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** A list, or the one value of a field that had one before. */
function listIn(value: JsonValue): JsonValue {
  const list = jsonIn(value)
  return typeof list === 'string' ? [list] : list
}

/** 0 is no limit there. */
function lengths({ min, max }: JsonObject): FieldLimits {
  return {
    ...(numberIn(min) > 0 && { min_length: numberIn(min) }),
    ...(numberIn(max) > 0 && { max_length: numberIn(max) }),
  }
}

function range({ min, max }: JsonObject): FieldLimits {
  return { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) }
}

const UNIQUE = /^CREATE UNIQUE INDEX [^(]+\(([^()]+)\)(.*)$/is

/** Of unique indexes, but those with a condition of their own: an empty text is nothing here, and so counts for none. */
function uniqueFields(
  record: JsonObject,
  title: string,
  left: (line: string) => void,
): ReadonlyMap<string, true | string> {
  const uniques = new Map<string, true | string>()
  const indexes = textsIn(typeof record.indexes === 'string' ? jsonIn(record.indexes) : record.indexes)
  for (const [at, sql] of indexes.entries()) {
    const [, inside = '', condition = ''] = UNIQUE.exec(sql.slice(0, 2_000).trim()) ?? []
    const names = inside.split(',').map((one) => one.trim().replace(/^[`"[]|[`"\]]$/g, ''))
    const isSecret = names.some((name) => secrets.has(name))
    if (inside === '' || isSecret || names.includes('id')) continue
    const isPlain = condition.trim() === '' || /^WHERE [`"]?\w+[`"]? != ''$/i.test(condition.trim())
    const isFree = names.every((name) => /^\w+$/.test(name) && !uniques.has(name))
    if (!isPlain || !isFree || uniques.size >= 15) {
      left(`${shownName(title)}: a unique index is not taken over: ${shownName(sql)}.`)
      continue
    }
    for (const name of names) uniques.set(name, names.length === 1 ? true : `index_${at + 1}`)
  }
  return uniques
}
