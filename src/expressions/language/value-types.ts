import { anyType, numberType, type ObjectType, objectType, type ValueType } from './value-type.ts'

/** Whether a value of a type may be what is wanted: only a type that certainly differs does not fit. */
export function mayBe(type: ValueType, wanted: ValueType): boolean {
  if (type.kind === 'any' || wanted.kind === 'any' || type.kind === 'nothing') return true
  if (isNumber(type)) return isNumber(wanted)
  if (type.kind === 'list') return wanted.kind === 'list' && mayBe(type.of, wanted.of)
  return type.kind === wanted.kind
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
