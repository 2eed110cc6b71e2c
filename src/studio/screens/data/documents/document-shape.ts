import type { Document } from '../../../../shared/api/data/documents.ts'

export type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null'

export interface ShapeField {
  /** Dotted: objects are looked into, lists are not. */
  readonly name: string
  /** Most frequent first. */
  readonly types: readonly FieldType[]
  /** In how many of the documents. */
  readonly count: number
}

const DEPTH = 3

/** The fields that these documents have, those of most documents first, else in the order in which they come. */
export function shapeOf(documents: readonly Document[]): ShapeField[] {
  const seen = new Map<string, Map<FieldType, number>>()
  for (const document of documents)
    for (const [name, value] of leaves(document)) {
      const types = seen.get(name) ?? new Map<FieldType, number>()
      types.set(typeOf(value), (types.get(typeOf(value)) ?? 0) + 1)
      seen.set(name, types)
    }
  return [...seen]
    .map(([name, types]) => ({
      name,
      types: [...types].toSorted((a, b) => b[1] - a[1]).map(([type]) => type),
      count: [...types.values()].reduce((sum, count) => sum + count, 0),
    }))
    .toSorted((a, b) => b.count - a.count)
}

function* leaves(
  object: Readonly<Record<string, unknown>>,
  prefix = '',
  depth = 1,
): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(object)) {
    if (prefix === '' && name === '_meta') continue
    const path = prefix + name
    if (isFields(value) && depth < DEPTH && Object.keys(value).length > 0)
      yield* leaves(value, `${path}.`, depth + 1)
    else yield [path, value]
  }
}

/** What stands at a dotted name; undefined if nothing does. */
export function valueAt(document: Readonly<Record<string, unknown>>, name: string): unknown {
  let value: unknown = document
  for (const step of name.split('.')) {
    if (!isFields(value)) return undefined
    value = value[step]
  }
  return value
}

function typeOf(value: unknown): FieldType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object'
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
