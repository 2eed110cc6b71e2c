/** What a schema of an OpenAPI document means to a block: the type of a pin, and its values as a text for people and agents. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import {
  DEEPEST_SHAPE,
  MOST_SHAPES,
  type OperationType,
  type ReplyShape,
} from '../../shared/operations/operation.ts'
import type { ApiDocument } from './api-document.ts'

/** A schema with its references and `allOf` put together. */
export interface Schema {
  readonly types: readonly string[]
  readonly properties: ReadonlyMap<string, JsonValue>
  readonly required: ReadonlySet<string>
  /** Of `oneOf` and `anyOf`. */
  readonly choices: readonly JsonValue[]
  readonly values: readonly JsonValue[] | undefined
  readonly others: JsonValue | undefined
  readonly items: JsonValue | undefined
  readonly format: string
  readonly isFile: boolean
  readonly own: JsonObject
}

const MOST_PARTS = 200

/** By its place in a document: large ones have the same schema in hundreds of operations. */
const known = new WeakMap<JsonObject, Schema>()

export function schemaOf(document: ApiDocument, schema: JsonValue | undefined): Schema {
  const before = isJsonObject(schema) ? known.get(schema) : undefined
  if (before) return before
  const read = readSchema(document, schema)
  if (isJsonObject(schema)) known.set(schema, read)
  return read
}

function readSchema(document: ApiDocument, schema: JsonValue | undefined): Schema {
  const parts: JsonObject[] = []
  collect(document, schema, parts, new Set())
  const own: JsonObject = Object.assign({}, ...[...parts].reverse())
  const types = new Set(
    parts.flatMap(({ type }) => [type ?? []].flat()).filter((one) => typeof one === 'string'),
  )
  types.delete('null')
  const properties = new Map(
    parts.flatMap((one) => (isJsonObject(one.properties) ? Object.entries(one.properties) : [])),
  )
  if (types.size === 0 && (properties.size > 0 || own.additionalProperties !== undefined)) types.add('object')
  if (types.size === 0 && own.items !== undefined) types.add('array')
  const values = own.const !== undefined ? [own.const] : Array.isArray(own.enum) ? own.enum : undefined
  const choices = parts.flatMap(({ oneOf, anyOf }) =>
    [oneOf, anyOf].flatMap((one) => (Array.isArray(one) ? one : [])),
  )
  const format = typeof own.format === 'string' ? own.format : ''
  return {
    types: [...types],
    properties,
    required: new Set(
      parts
        .flatMap(({ required }) => (Array.isArray(required) ? required : []))
        .filter((one) => typeof one === 'string'),
    ),
    // An alternative may say only which fields must be there together.
    choices: choices.filter(
      (one) =>
        isJsonObject(one) &&
        Object.keys(one).some((key) => key !== 'required' && key !== 'title' && key !== 'description'),
    ),
    values,
    others: own.additionalProperties,
    items: own.items,
    format,
    isFile: types.has('string') && (format === 'binary' || typeof own.contentMediaType === 'string'),
    own,
  }
}

function collect(
  document: ApiDocument,
  schema: JsonValue | undefined,
  parts: JsonObject[],
  seen: Set<JsonValue>,
): void {
  const { value } = document.resolve(schema)
  if (!isJsonObject(value) || seen.has(value) || parts.length >= MOST_PARTS) return
  seen.add(value)
  // In OpenAPI 3.1 a reference may have more beside it.
  if (isJsonObject(schema) && schema !== value) {
    const { $ref: _, ...beside } = schema
    if (Object.keys(beside).length > 0) parts.push(beside)
  }
  const { allOf, ...rest } = value
  parts.push(rest)
  if (Array.isArray(allOf)) for (const one of allOf) collect(document, one, parts, seen)
}

/** Alternatives of alternatives: they may lead in a circle. */
const MOST_LEVELS = 4

export function pinTypeOf(document: ApiDocument, schema: Schema, level = 0): OperationType {
  const { types, choices, format, isFile, values } = schema
  if (isFile) return 'any'
  if (types.length === 0 && choices.length > 0) {
    if (level === MOST_LEVELS || choices.length > MOST_PARTS) return 'any'
    const kinds = new Set(choices.map((one) => pinTypeOf(document, schemaOf(document, one), level + 1)))
    const [only] = kinds
    return kinds.size === 1 && only !== undefined ? only : 'any'
  }
  if (types.length === 0 && values?.every((one) => typeof one === 'string')) return 'value'
  if (types.length !== 1) return 'any'
  switch (types[0]) {
    case 'string':
      return format === 'date-time' ? 'date' : 'value'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'condition'
    case 'array':
      return 'array'
    case 'object':
      return 'object'
    default:
      return 'any'
  }
}

/** Of each schema by its place in a document: large ones reply with the same in hundreds of operations. */
const knownShapes = new WeakMap<JsonObject, ReplyShape>()

/** What a value that fits one of several schemas holds. */
export function replyShape(document: ApiDocument, schemas: readonly (JsonValue | undefined)[]): ReplyShape {
  const shape = commonShape(schemas.map((one) => wholeShape(document, one)))
  return partsOf(shape) > MOST_SHAPES ? 'any' : shape
}

/** As deep as it has room for. */
function wholeShape(document: ApiDocument, schema: JsonValue | undefined): ReplyShape {
  const { value } = document.resolve(schema)
  if (!isJsonObject(value)) return 'any'
  const known = knownShapes.get(value)
  if (known !== undefined) return known
  let shape: ReplyShape = 'any'
  for (const most of [DEEPEST_SHAPE, 3, 1]) {
    const parts = { left: MOST_SHAPES / 2, most }
    const read = shapeOf(document, schema, parts, [])
    if (parts.left < 0) continue
    shape = read
    break
  }
  knownShapes.set(value, shape)
  return shape
}

function partsOf(shape: ReplyShape): number {
  return typeof shape === 'string' ? 1 : Object.values(shape).reduce((sum, one) => sum + partsOf(one), 1)
}

/** `open`: what it is part of. One that is part of itself is anything there. */
function shapeOf(
  document: ApiDocument,
  schema: JsonValue | undefined,
  parts: { left: number; readonly most: number },
  open: readonly JsonValue[],
): ReplyShape {
  parts.left -= 1
  const { value } = document.resolve(schema)
  if (!isJsonObject(value) || parts.left < 0 || open.includes(value)) return 'any'
  const { types, choices, properties, items, isFile } = schemaOf(document, schema)
  const [type] = types
  if (isFile || types.length > 1) return 'any'
  if (type !== undefined && type !== 'object' && type !== 'array') return plainShapes[type] ?? 'any'
  if (open.length >= parts.most) return 'any'
  const of = (one: JsonValue | undefined) => shapeOf(document, one, parts, [...open, value])
  if (type === 'array') return [of(items)]
  // Each alternative has what stands beside it, too.
  const own = type === 'object' && (properties.size > 0 || choices.length === 0)
  return commonShape([...(own ? [fieldShapes(properties, of)] : []), ...choices.slice(0, MOST_PARTS).map(of)])
}

function fieldShapes(
  properties: Schema['properties'],
  of: (schema: JsonValue) => ReplyShape,
): Readonly<Record<string, ReplyShape>> {
  return Object.fromEntries(
    [...properties]
      .filter(([name]) => name !== '__proto__')
      .map(([name, property]) => [name, of(property)] as const),
  )
}

const plainShapes: Readonly<Partial<Record<string, ReplyShape>>> = {
  string: 'text',
  integer: 'whole',
  number: 'number',
  boolean: 'condition',
}

function commonShape(shapes: readonly ReplyShape[]): ReplyShape {
  const [first = 'any', ...others] = shapes
  return others.reduce(eitherShape, first)
}

function eitherShape(a: ReplyShape, b: ReplyShape): ReplyShape {
  if (a === b) return a
  if (typeof a === 'string' || typeof b === 'string') {
    const kinds = [a, b]
    return kinds.includes('number') && kinds.includes('whole') ? 'number' : 'any'
  }
  if (isListShape(a) || isListShape(b))
    return isListShape(a) && isListShape(b) ? [eitherShape(a[0] ?? 'any', b[0] ?? 'any')] : 'any'
  const fields = new Map(Object.entries(a))
  for (const [name, shape] of Object.entries(b)) {
    const known = fields.get(name)
    fields.set(name, known === undefined ? shape : eitherShape(known, shape))
  }
  return Object.fromEntries(fields)
}

function isListShape(shape: ReplyShape): shape is readonly ReplyShape[] {
  return Array.isArray(shape)
}

/** How many characters a text may still have, and which named schemas it has mentioned. */
export interface TextBudget {
  left: number
  /** Levels in which named schemas are written out. */
  readonly depth: number
  readonly named: Set<string>
  readonly open: readonly string[]
}

const INDENT_MOST = 100

/** As TypeScript writes it. */
export function typeText(document: ApiDocument, schema: JsonValue | undefined, budget: TextBudget): string {
  if (budget.left <= 0) return '…'
  const { ref } = document.resolve(schema)
  if (ref === undefined) return spent(budget, shapeText(document, schema, budget))
  const name = nameOf(ref)
  if (budget.depth <= 0 || budget.open.includes(ref)) {
    budget.named.add(ref)
    return spent(budget, name)
  }
  const inner = { ...budget, depth: budget.depth - 1, open: [...budget.open, ref] }
  const text = shapeText(document, schema, inner)
  budget.left = inner.left - text.length
  return text
}

/** How a document declares a named schema, and which others the declaration names. */
export interface Declaration {
  readonly text: string
  readonly named: readonly string[]
}

/** Each is written once for all operations. */
export function declarations(document: ApiDocument, most: number): (ref: string) => Declaration {
  const known = new Map<string, Declaration>()
  return (ref) => {
    const before = known.get(ref)
    if (before) return before
    const budget: TextBudget = { left: most, depth: 1, named: new Set(), open: [] }
    const text = `type ${nameOf(ref)} = ${typeText(document, { $ref: ref }, budget)}`
    const declaration = { text, named: [...budget.named] }
    known.set(ref, declaration)
    return declaration
  }
}

function spent(budget: TextBudget, text: string): string {
  budget.left -= text.length
  return text
}

function nameOf(ref: string): string {
  return (ref.split('/').at(-1) ?? ref).replace(/[^\w.-]+/g, '_')
}

function shapeText(document: ApiDocument, schema: JsonValue | undefined, budget: TextBudget): string {
  const whole = schemaOf(document, schema)
  const { types, properties, choices, values, items, others, format, isFile } = whole
  if (values) return union(values.slice(0, MOST_PARTS).map((one) => JSON.stringify(one)))
  const shapes = types.map((type) => {
    if (type === 'array') return `(${typeText(document, items, budget)})[]`.replace(/^\(([\w.-]+)\)/, '$1')
    if (type === 'integer') return 'number'
    if (type === 'string')
      return isFile ? 'file' : format === '' ? 'string' : `string(${format.slice(0, 40)})`
    if (type !== 'object' || (choices.length > 0 && properties.size === 0))
      return type === 'object' ? '' : type
    return objectText(document, whole, budget)
  })
  const alternatives = choices.slice(0, MOST_PARTS).map((one) => typeText(document, one, budget))
  if (others !== undefined && types.length === 0) shapes.push('object')
  return union([...shapes.filter((one) => one !== ''), ...alternatives]) || 'any'
}

function objectText(
  document: ApiDocument,
  { properties, required, others }: Schema,
  budget: TextBudget,
): string {
  const fields = [...properties].slice(0, INDENT_MOST * 2).map(([name, property]) => {
    if (budget.left <= 0) return '…'
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${key}${required.has(name) ? '' : '?'}: ${typeText(document, property, budget)}`
  })
  if (isJsonObject(others) && Object.keys(others).length > 0)
    fields.push(`[name]: ${typeText(document, others, budget)}`)
  return fields.length === 0 ? 'object' : `{ ${[...new Set(fields)].join(', ')} }`
}

function union(texts: readonly string[]): string {
  return [...new Set(texts)].join(' | ')
}
