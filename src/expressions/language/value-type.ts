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
