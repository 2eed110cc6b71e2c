/** Values made from the schemas of the OpenAPI document. */
import fc from 'fast-check'
import { type ApiDocument, type ApiSchema, resolved } from '../../../src/http/docs/open-api-document.ts'
import { isJsonObject, type JsonValue } from '../../../src/shared/json.ts'
import type { RandomSource } from '../random-source.ts'
import { hostileJson } from './hostile-values.ts'

/** How well a value fits: as described, nearly so, or not at all. */
export type Mood = 'good' | 'bad' | 'hostile'

export interface Making {
  readonly document: ApiDocument
  readonly random: RandomSource
  /** Text that means something to the server: guids, names, words of documents. */
  word(): string
}

const DEEPEST = 6

/** One value of the arbitrary, chosen by the seed. */
export function one<T>(values: fc.Arbitrary<T>, random: Pick<RandomSource, 'below'>): T {
  const [value] = fc.sample(values, { seed: random.below(2 ** 31), numRuns: 1 }).slice(0, 1)
  if (value === undefined) throw new Error('There is no value.')
  return value
}

/** A value that fits the schema, for all that is said in it; patterns and formats are left to chance. */
export function valueFor(input: ApiSchema, making: Making, depth = 0): JsonValue {
  const { random, document, word } = making
  const schema = resolved(input, document)
  if (schema.const !== undefined) return asJson(schema.const)
  if (schema.enum) return asJson(random.oneOf(schema.enum))
  const parts = schema.anyOf ?? schema.oneOf
  if (parts && parts.length > 0) return valueFor(random.oneOf(parts), making, depth)
  const type = typeof schema.type === 'object' ? random.oneOf(schema.type) : schema.type
  switch (type ?? (schema.properties ? 'object' : 'any')) {
    case 'string':
      return word().slice(0, schema.maxLength ?? 200)
    case 'integer':
      return random.between(
        schema.minimum ?? 0,
        Math.min(schema.maximum ?? 100, (schema.minimum ?? 0) + 1_000),
      )
    case 'number':
      return random.oneOf([0, 1, 2.5, -3, random.below(1_000)])
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'array':
      if (depth >= DEEPEST) return []
      return Array.from({ length: random.below(Math.min(4, (schema.maxItems ?? 3) + 1)) }, () =>
        valueFor(schema.items ?? {}, making, depth + 1),
      )
    case 'object':
      return objectFor(schema, making, depth)
    default:
      return random.oneOf<JsonValue>([word(), 1, true, null, [word()], { [word()]: word() }])
  }
}

function objectFor(schema: ApiSchema, making: Making, depth: number): JsonValue {
  const { random, word } = making
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || (depth < DEEPEST && random.chance(0.4)))
    .map(([name, inner]): [string, JsonValue] => [name, valueFor(inner, making, depth + 1)])
  const [open] = Object.values(patternProperties ?? {})
  const more = open ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  if (more !== undefined || Object.keys(properties).length === 0)
    for (let count = random.below(4); count > 0 && depth < DEEPEST; count--)
      entries.push([word(), valueFor(more ?? {}, making, depth + 1)])
  return Object.fromEntries(entries)
}

/** The value with one place of it, at any depth, wrong: something else is there, it is missing, or there is more. */
export function spoiled(value: JsonValue, random: RandomSource, depth = 0): JsonValue {
  const wrong = () => one(hostileJson, random)
  if (depth > DEEPEST || random.chance(0.2)) return wrong()
  if (Array.isArray(value)) {
    if (value.length === 0) return [wrong()]
    const place = random.below(value.length)
    return value.map((item, at) => (at === place ? spoiled(item, random, depth + 1) : item))
  }
  if (!isJsonObject(value)) return wrong()
  const entries = Object.entries(value)
  if (entries.length === 0 || random.chance(0.15)) return { ...value, [`extra ${random.below(3)}`]: wrong() }
  const place = random.below(entries.length)
  if (random.chance(0.2)) return Object.fromEntries(entries.filter((_, at) => at !== place))
  return Object.fromEntries(
    entries.map(([name, item], at) => [name, at === place ? spoiled(item, random, depth + 1) : item]),
  )
}

/** Of the document, which is JSON. */
function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value))
}
