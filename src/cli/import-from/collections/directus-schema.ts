/** A schema snapshot of Directus: collections, their fields and relations. */
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { keepsDigits } from '../../../shared/numbers/exact-json.ts'
import { numberIn, objectsIn, textIn, textsIn } from '../../../storage/document-fields.ts'
import { distinctNames, fieldNameFor, shownName, storageNameFor } from '../fitting-names.ts'
import { MOST_COLUMNS, MOST_TABLES, type SourceField } from '../source.ts'
import { type Collection, type CollectionColumn, instantIn, nothingIfEmpty } from './collection.ts'
import type { KindsOf } from './record-folder.ts'
import { DIRECTUS_FILES } from './stored-files.ts'

export type PlannedItems = Omit<Collection, 'items'>

/** A storage has at most so many of each. */
const MOST_UNIQUE = 16
const MOST_PRECISION = 15
const MOST_PLACES = 10

interface SnapshotContext extends SnapshotReading {
  /** Collection → its storage. */
  readonly storages: ReadonlyMap<string, string>
  /** Collection → the field of its key. */
  readonly keys: ReadonlyMap<string, string>
  /** `collection.field` → the collection that it refers to; empty for one of several. */
  readonly relations: ReadonlyMap<string, string>
}

interface SnapshotReading {
  readonly kindsOf: KindsOf
  /** Is told of what cannot be said. */
  readonly left: (line: string) => void
  /** Whether its files can be read. */
  readonly hasFiles: boolean
}

export function directusCollections(snapshot: JsonObject, reading: SnapshotReading): readonly PlannedItems[] {
  const tables = objectsIn(snapshot.collections).filter(
    ({ collection, schema }) => isJsonObject(schema) && !textIn(collection).startsWith('directus_'),
  )
  if (tables.length === 0) throw new Error('has no collections')
  if (tables.length > MOST_TABLES) throw new Error(`has more than ${MOST_TABLES} collections`)
  const distinct = distinctNames()
  const fields = grouped(objectsIn(snapshot.fields))
  const titles = tables.map(({ collection }) => textIn(collection))
  const context: SnapshotContext = {
    storages: new Map(titles.map((title, at) => [title, distinct(storageNameFor(title, at + 1))])),
    keys: new Map(titles.map((title) => [title, keyOf(fields.get(title) ?? [])])),
    relations: new Map(
      objectsIn(snapshot.relations).map((one) => [
        `${textIn(one.collection)}.${textIn(one.field)}`,
        textIn(one.related_collection),
      ]),
    ),
    ...reading,
  }
  return titles.map((title) => collectionOf(title, fields.get(title) ?? [], context))
}

function grouped(fields: readonly JsonObject[]): ReadonlyMap<string, readonly JsonObject[]> {
  const groups = new Map<string, JsonObject[]>()
  for (const field of fields) {
    const group = groups.get(textIn(field.collection)) ?? []
    group.push(field)
    groups.set(textIn(field.collection), group)
  }
  return groups
}

function keyOf(fields: readonly JsonObject[]): string {
  return textIn(fields.find((field) => partOf(field, 'schema').is_primary_key === true)?.field ?? 'id')
}

function partOf(field: JsonObject, name: 'schema' | 'meta'): JsonObject {
  const part = field[name]
  return isJsonObject(part) ? part : {}
}

function collectionOf(title: string, fields: readonly JsonObject[], context: SnapshotContext): PlannedItems {
  if (fields.length > MOST_COLUMNS)
    throw new Error(`${shownName(title)} has more than ${MOST_COLUMNS} fields`)
  const distinct = distinctNames()
  const key = context.keys.get(title) ?? 'id'
  let uniques = 0
  const columns = fields.flatMap((field, at) => {
    const source = textIn(field.field)
    const column = columnOf(field, distinct(fieldNameFor(source, at + 1)), title, context)
    if (!column) return []
    const isUnique = partOf(field, 'schema').is_unique === true || source === key
    if (!isUnique || uniques === MOST_UNIQUE) return [column]
    uniques += 1
    return [{ ...column, field: { ...column.field, unique: true } }]
  })
  return { title, storage: context.storages.get(title) ?? '', key, columns }
}

type Say = (line: string) => void
type Made = (more: Omit<SourceField, 'name'>, read?: CollectionColumn['read']) => CollectionColumn

function columnOf(
  field: JsonObject,
  name: string,
  title: string,
  context: SnapshotContext,
): CollectionColumn | undefined {
  const source = textIn(field.field)
  const say: Say = (line) => context.left(`${shownName(title)}: ${shownName(source)} ${line}.`)
  const [meta, schema] = [partOf(field, 'meta'), partOf(field, 'schema')]
  if (field.type === 'alias' || !isJsonObject(field.schema)) {
    const isPresentation = /^(?:presentation|group|super)-/.test(textIn(meta.interface))
    if (!isPresentation) say('is left out: the records that refer to this one have it')
    return undefined
  }
  if (field.type === 'hash' || textsIn(meta.special).includes('hash')) {
    say('is left out: secrets are not taken over')
    return undefined
  }
  if (field.type === 'binary') {
    say('is left out: it holds bytes')
    return undefined
  }
  const label = name === source ? {} : { label: source }
  const isRequired = meta.required === true || schema.is_nullable === false
  const made: Made = (more, read) => {
    const mayBeEmpty = ['string', 'long_text', 'object', 'array', 'list', 'choices'].includes(more.type)
    // A file that the cluster refuses would take its record along.
    const required =
      more.type !== 'file' && isRequired && (!mayBeEmpty || meta.required === true) ? { required: true } : {}
    return { source, field: { name, ...label, ...required, ...more }, ...(read && { read }) }
  }
  const relation = context.relations.get(`${title}.${source}`)
  return relation === undefined
    ? plainColumn(field, made, say, context)
    : related(field, relation, made, say, context)
}

function related(
  field: JsonObject,
  target: string,
  made: Made,
  say: Say,
  context: SnapshotContext,
): CollectionColumn | undefined {
  const refersTo = context.storages.get(target)
  if (refersTo === undefined && target === DIRECTUS_FILES && context.hasFiles)
    return {
      ...made({ type: 'file' }, (value) => (isJsonObject(value) ? (value.id ?? null) : value)),
      isFile: true,
    }
  if (refersTo === undefined) {
    const what =
      target === DIRECTUS_FILES
        ? 'files, which are not taken over'
        : target === 'directus_users'
          ? 'users, who are not taken over'
          : 'records of several collections'
    say(`refers to ${what}: it stays a plain value`)
    return plainColumn(field, made, say, context)
  }
  const key = context.keys.get(target) ?? 'id'
  return made({ type: 'reference', refersTo }, (value) =>
    isJsonObject(value) ? (value[key] ?? null) : value,
  )
}

function plainColumn(
  field: JsonObject,
  made: Made,
  say: Say,
  { kindsOf }: SnapshotContext,
): CollectionColumn {
  const [meta, schema] = [partOf(field, 'meta'), partOf(field, 'schema')]
  const choices = choicesOf(meta)
  const isSeveral = field.type === 'json' || field.type === 'csv'
  if (choices.length > 0)
    return isSeveral
      ? made({ type: 'choices', limits: { choices } }, listIn)
      : made({ type: 'choice', limits: { choices } }, nothingIfEmpty)
  switch (field.type) {
    case 'text':
      return made({ type: 'long_text' })
    case 'integer':
    case 'bigInteger':
      return made({ type: 'integer' }, numberOf)
    case 'float':
      return made({ type: 'number' }, numberOf)
    case 'decimal':
      return made(decimalOf(schema), numberOf)
    case 'boolean':
      return made({ type: 'boolean' }, (value) => (value === 0 || value === 1 ? value === 1 : value))
    case 'date':
      return made({ type: 'day' }, nothingIfEmpty)
    case 'dateTime':
      say('has no time zone: it is read as a time of UTC')
      return made({ type: 'instant' }, instantIn)
    case 'timestamp':
      return made({ type: 'instant' }, instantIn)
    case 'csv':
      return made({ type: 'list', limits: { items: 'string' } }, listIn)
    case 'json':
      return jsonColumn(made, kindsOf(textIn(field.collection), textIn(field.field)), say)
    case 'string':
    case 'uuid':
      return made({ type: 'string', ...lengthOf(schema) })
    default:
      if (textIn(field.type).startsWith('geometry')) return made({ type: 'object' })
      say(`is text here, and ${shownName(textIn(field.type))} in the source`)
      return made({ type: 'string' }, (value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  }
}

/** Of a field that takes no others. */
function choicesOf({ options }: JsonObject): readonly (string | number)[] {
  if (!isJsonObject(options) || options.allowOther === true) return []
  const values = objectsIn(options.choices).map(({ value }) => value ?? '')
  const known = values.filter((value) => typeof value === 'string' || typeof value === 'number')
  return known.length === values.length && !known.includes('') ? known : []
}

function lengthOf({ max_length: longest }: JsonObject): Pick<SourceField, 'limits'> {
  return numberIn(longest) > 0 ? { limits: { max_length: numberIn(longest) } } : {}
}

function decimalOf({
  numeric_precision: precision,
  numeric_scale: scale,
}: JsonObject): Pick<SourceField, 'type' | 'limits'> {
  const isExact =
    numberIn(precision) > 0 && numberIn(precision) <= MOST_PRECISION && numberIn(scale) <= MOST_PLACES
  return isExact ? { type: 'decimal', limits: { places: numberIn(scale) } } : { type: 'number' }
}

/** Numbers that JSON may not hold exactly come as texts. */
function numberOf(value: JsonValue): JsonValue {
  return typeof value === 'string' && /^-?\d{1,40}(?:\.\d{1,40})?$/.test(value) && keepsDigits(value)
    ? Number(value)
    : value
}

function jsonColumn(made: Made, kinds: ReadonlySet<string>, say: Say): CollectionColumn {
  const [kind = 'object', ...others] = kinds
  if (others.length === 0 && kind === 'object') return made({ type: 'object' })
  if (others.length === 0 && kind === 'array') return made({ type: 'array' })
  say('is text here: its values are not all objects, or all lists')
  return made({ type: 'string' }, (value) => (typeof value === 'string' ? value : JSON.stringify(value)))
}

function listIn(value: JsonValue): JsonValue {
  return typeof value === 'string' ? value.split(',').filter((one) => one !== '') : value
}
