import { isOperation } from '../../../blocks/pins/operation-problem.ts'
import {
  anyType,
  conditionType,
  listOf,
  numberType,
  type ObjectType,
  objectType,
  textType,
  typeOfStored,
  type ValueType,
  wholeType,
} from '../../../expressions/language/value-types.ts'
import type { FieldRule, FieldsOf } from '../../../shared/field-rule.ts'
import { fieldTypeEntries } from '../../../shared/fields/field-type.ts'
import type { Meta } from '../../../shared/meta.ts'
import type { ReplyShape } from '../../../shared/operations/operation.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Wire } from '../blueprint-graph.ts'

/** Where more fields are listed, nothing is said of documents: the check of an expression compares them in one turn. */
const MOST_FIELDS = 200

const metaTypes: Readonly<Record<keyof Meta, ValueType>> = {
  guid: textType,
  entity: numberType,
  created: numberType,
  updated: numberType,
  cms: numberType,
  ums: numberType,
  removed: numberType,
  expiry: numberType,
  update_hash: textType,
}

/** As {@link documentTypes}, with what is certain of each document where its fields say nothing, and references as texts. */
export function storedTypes(fieldsOf: FieldsOf): (storage: string) => ObjectType {
  const known = new Map<string, ObjectType>()
  function typeIn(storage: string): ObjectType {
    const done = known.get(storage)
    if (done) return done
    const rules = fieldsOf(storage).filter((rule) => rule.storage === storage)
    const type = typeOfDocument(storage, rules.slice(0, MOST_FIELDS), {
      ofReference: textType,
      ofReferred: typeIn,
    })
    known.set(storage, type)
    return type
  }
  return typeIn
}

/** The type of a storage's documents; undefined when its fields say nothing. The same one each time. */
export function documentTypes(fieldsOf: FieldsOf): (storage: string) => ObjectType | undefined {
  const known = new Map<string, ObjectType | undefined>()
  return (storage) => {
    if (!known.has(storage)) known.set(storage, documentType(storage, fieldsOf(storage)))
    return known.get(storage)
  }
}

/** Rules without a storage are about names, and list no storage's fields. */
function documentType(storage: string, rules: readonly FieldRule[]): ObjectType | undefined {
  if (rules.length > MOST_FIELDS || !rules.some((rule) => rule.storage === storage)) return undefined
  // In a `where` a reference also has the fields of what it names.
  return typeOfDocument(storage, rules, { ofReference: anyType, ofReferred: () => anyType })
}

interface ReferenceTypes {
  readonly ofReference: ValueType
  /** Of the document that a reference names, where a block was told to expand it. */
  readonly ofReferred: (storage: string) => ValueType
}

function typeOfDocument(
  storage: string,
  rules: readonly FieldRule[],
  { ofReference, ofReferred }: ReferenceTypes,
): ObjectType {
  const named = rules.map((rule): Named => {
    const type = rule.reference ? ofReference : typeOfStored[fieldTypeEntries[rule.type].value]
    return [
      rule.name.split('.'),
      type.kind === 'object' ? type : { ...type, ...dates[rule.type], field: { storage, path: rule.name } },
    ]
  })
  const type = objectOf(named, { storage, path: '' })
  const expand = rules.some(({ reference }) => reference) && { _expand: expandOf(storage, rules, ofReferred) }
  return { ...type, fields: { ...type.fields, _meta: metaOf(storage), ...expand } }
}

const dates: Readonly<Partial<Record<FieldRule['type'], { readonly date: 'instant' | 'either' }>>> = {
  instant: { date: 'instant' },
  date: { date: 'either' },
}

type Named = readonly [path: readonly string[], type: ValueType]

/** `owner.name` beside `owner`, or alone, lists what the object `owner` has. */
function objectOf(named: readonly Named[], stored: { storage: string; path: string }): ObjectType {
  const fields = new Map<string, ValueType>()
  const inside = new Map<string, Named[]>()
  for (const [[key = '', ...rest], type] of named) {
    if (rest.length === 0) fields.set(key, type)
    else inside.set(key, [...(inside.get(key) ?? []), [rest, type]])
  }
  for (const [key, parts] of inside) {
    const kind = fields.get(key)?.kind ?? 'object'
    // Of the elements of a list, perhaps: not what is read by the name alone.
    if (kind === 'object') fields.set(key, objectOf(parts, { ...stored, path: `${stored.path}${key}.` }))
  }
  return { kind: 'object', open: true, fields: Object.fromEntries(fields), stored }
}

/** There only where a block was told to expand them. A document may refer to one of its own storage: its type is read when it is asked for. */
function expandOf(
  storage: string,
  rules: readonly FieldRule[],
  ofReferred: ReferenceTypes['ofReferred'],
): ObjectType {
  const fields: Record<string, ValueType> = {}
  for (const { name, reference } of rules)
    if (reference)
      Object.defineProperty(fields, name, { enumerable: true, get: () => ofReferred(reference.storage) })
  return { kind: 'object', open: true, fields, stored: { storage, path: '_expand.' } }
}

function metaOf(storage: string): ObjectType {
  return { kind: 'object', open: true, fields: metaTypes, stored: { storage, path: '_meta.' } }
}

const types: Readonly<Partial<Record<PinType, ValueType>>> = {
  value: textType,
  line: textType,
  number: numberType,
  condition: conditionType,
  date: textType,
  function: textType,
  object: objectType,
  document: objectType,
  user: objectType,
  file: objectType,
  array: listOf(anyType),
  documents: listOf(objectType),
}

/** The type of what a wire gives in an expression. A date is its text. */
export function typeOfPin({ node, pin }: Wire): ValueType {
  const out = node.out.get(pin)
  if (out?.repliesOf !== undefined) return typeOfReplies(node.settings[out.repliesOf])
  const type = out?.type === 'flow' ? (out.carries ?? 'any') : (out?.type ?? 'any')
  return types[type] ?? anyType
}

/** By the setting, so that a flow has one type of each. */
const replyTypes = new WeakMap<object, ValueType>()

function typeOfReplies(setting: unknown): ValueType {
  const known = typeof setting === 'object' && setting !== null ? replyTypes.get(setting) : undefined
  if (known) return known
  if (!isOperation(setting)) return anyType
  const { gives, id } = setting
  const type =
    gives?.shape === undefined ? (types[gives?.type ?? 'any'] ?? anyType) : typeOfShape(gives.shape, id)
  replyTypes.set(setting, type)
  return type
}

const shapeTypes = {
  any: anyType,
  text: textType,
  number: numberType,
  whole: wholeType,
  condition: conditionType,
} as const

function typeOfShape(shape: ReplyShape, operation: string): ValueType {
  if (typeof shape === 'string') return shapeTypes[shape]
  if (isShapeList(shape)) return listOf(typeOfShape(shape[0] ?? 'any', operation))
  const fields = Object.entries(shape).map(([name, one]) => [name, typeOfShape(one, operation)] as const)
  return fields.length === 0
    ? objectType
    : { kind: 'object', open: true, fields: Object.fromEntries(fields), replyOf: operation }
}

function isShapeList(shape: ReplyShape): shape is readonly ReplyShape[] {
  return Array.isArray(shape)
}

/** The pin that gives such values. */
export function pinOfType(type: ValueType): PinType {
  switch (type.kind) {
    case 'text':
      return 'value'
    case 'number':
    case 'whole':
      return 'number'
    case 'condition':
      return 'condition'
    case 'list':
      return 'array'
    case 'object':
      return 'object'
    default:
      return 'any'
  }
}
