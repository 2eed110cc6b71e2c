import type { FieldTypeEntry } from '../../shared/fields/field-type.ts'

/**
 * The type of a value, as far as it is known before a run. Missing and null are one value, nothing, and every type includes
 * it. A day and an instant are texts.
 */
export type ValueType = PlainType | ListType | ObjectType

export interface PlainType {
  readonly kind: 'any' | 'text' | 'number' | 'whole' | 'condition' | 'nothing'
  /** Of a text that is one. `either`: a field that holds days and instants. */
  readonly date?: 'instant' | 'either'
  /** Whose value it is, unchanged. */
  readonly field?: StoredPart
}

export interface ListType {
  readonly kind: 'list'
  readonly of: ValueType
  /** Whose value it is, unchanged. */
  readonly field?: StoredPart
}

export interface ObjectType {
  readonly kind: 'object'
  readonly fields: Readonly<Record<string, ValueType>>
  /** Whether it may have fields beside these: one that is not listed is then a warning at most. */
  readonly open: boolean
  /** What it is of a stored document whose fields are known: one that is not listed is then probably a mistake. */
  readonly stored?: StoredPart
  /** The operation of another API that replies with it: a field that its document does not name is probably a mistake. */
  readonly replyOf?: string
  /** Of a copy of a stored document, which `fields` were put into. */
  readonly copyOf?: ObjectType
  /** Fields of the document that the copy is without. */
  readonly without?: readonly string[]
}

export interface StoredPart {
  readonly storage: string
  /** Of a field its name. Of an object in the document with a dot behind it; empty for the document. */
  readonly path: string
  /** References of the document that may be followed in it. */
  readonly expand?: readonly string[]
}

export const anyType: PlainType = { kind: 'any' }
export const textType: PlainType = { kind: 'text' }
export const numberType: PlainType = { kind: 'number' }
export const wholeType: PlainType = { kind: 'whole' }
export const conditionType: PlainType = { kind: 'condition' }
export const nothingType: PlainType = { kind: 'nothing' }
/** An object of which nothing is known. */
export const objectType: ObjectType = { kind: 'object', fields: {}, open: true }

export function listOf(of: ValueType): ListType {
  return { kind: 'list', of }
}

/** Whether a value of a type may be what is wanted: only a type that certainly differs does not fit. */
export function mayBe(type: ValueType, requested: ValueType): boolean {
  if (type.kind === 'any' || requested.kind === 'any' || type.kind === 'nothing') return true
  if (isNumber(type)) return isNumber(requested)
  if (type.kind === 'list') return requested.kind === 'list' && mayBe(type.of, requested.of)
  return type.kind === requested.kind
}

export function isNumber(type: ValueType): boolean {
  return type.kind === 'number' || type.kind === 'whole'
}

/** Whether two values can be equal or in order: types of one kind, or not known. */
export function isComparable(a: ValueType, b: ValueType): boolean {
  const kinds = [a.kind, b.kind]
  return (
    kinds.includes('any') || kinds.includes('nothing') || a.kind === b.kind || (isNumber(a) && isNumber(b))
  )
}

/** The type of a value that has one of two types. */
export function eitherType(a: ValueType, b: ValueType): ValueType {
  if (a === b || b.kind === 'nothing') return a
  if (a.kind === 'nothing') return b
  if (isNumber(a) && isNumber(b)) return a.kind === b.kind ? ofNoField(a) : numberType
  if (a.kind === 'list' && b.kind === 'list') return { kind: 'list', of: eitherType(a.of, b.of) }
  if (a.kind === 'object' && b.kind === 'object') {
    if (isWide(a) || isWide(b)) return objectType
    const fields = new Map(Object.entries(a.fields))
    for (const [key, type] of Object.entries(b.fields)) {
      const known = fields.get(key)
      fields.set(key, known ? eitherType(known, type) : type)
    }
    return { kind: 'object', fields: Object.fromEntries(fields), open: a.open || b.open }
  }
  return a.kind === b.kind ? ofNoField(a) : anyType
}

/** What may be the value of either of two fields is of none. */
function ofNoField(type: ValueType): ValueType {
  if (type.kind === 'object') return type
  return type.kind === 'list' ? { kind: 'list', of: type.of } : { kind: type.kind }
}

/** Fields of an object that are copied for each place of an expression that puts it together with others. */
const MOST_FIELDS = 64

/** Of too many fields to be copied hundreds of times, in each of hundreds of places of one expression: 890 times 500 took 0.2 s. */
export function isWide({ stored, fields }: ObjectType): boolean {
  return stored !== undefined || Object.keys(fields).length > MOST_FIELDS
}

/** The type of one of many values; nothing is known of none. */
export function commonType(types: readonly ValueType[]): ValueType {
  const [first = anyType, ...others] = types
  return others.reduce(eitherType, first)
}

/** In words that finish "this is …". */
export function wordsFor(type: ValueType): string {
  switch (type.kind) {
    case 'any':
      return 'any value'
    case 'nothing':
      return 'nothing'
    case 'whole':
      return 'a whole number'
    case 'object':
      return 'an object'
    case 'list':
      return type.of.kind === 'any' ? 'a list' : `a list (each element ${wordsFor(type.of)})`
    default:
      return `a ${type.kind}`
  }
}

/**
 * What expressions take a field of documents for. A date is text, or a number that is Unix seconds; a choice is text or a number.
 */
export const typeOfStored: Readonly<Record<FieldTypeEntry['value'], ValueType>> = {
  text: textType,
  number: numberType,
  condition: conditionType,
  object: objectType,
  list: listOf(anyType),
  any: anyType,
}

/** What a value is in words that finish "… is". */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  switch (typeof value) {
    case 'string':
      return 'a text'
    case 'number':
      return 'a number'
    case 'boolean':
      return 'a condition'
    default:
      return Array.isArray(value) ? 'a list' : 'an object'
  }
}
