/**
 * What clients of the present endpoints would notice of a release: from the two OpenAPI descriptions of its blueprints, before and after.
 * A request that was right must stay right, and a reply must have what it had: fields, and no other types.
 */
import type { LiveTable } from '../flows/live/live-blueprints.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { objectsIn, textsIn } from '../storage/document-fields.ts'

type RulesOf = (storage: string) => Promise<readonly FieldRule[]>

/** The OpenAPI paths and schemas of all endpoints of a table. */
export type DescribeTable = (
  table: LiveTable,
  rulesOf: RulesOf,
) => Promise<{ readonly paths: object; readonly schemas?: object }>

/** Lines of a plan: those who mend them begin with the first. */
const MOST_LINES = 200
/** A schema may refer to itself. */
const DEEPEST = 8

interface Tables {
  readonly now: LiveTable
  readonly next: LiveTable
  /** Guids of the blueprints of the application. */
  readonly owned: ReadonlySet<string>
}

export async function contractBreaks(
  describe: DescribeTable,
  { now, next, owned }: Tables,
  rules: { readonly before: RulesOf; readonly after: RulesOf },
): Promise<readonly string[]> {
  const of = (table: LiveTable): LiveTable => ({
    ...table,
    blueprints: new Map([...table.blueprints].filter(([guid]) => owned.has(guid))),
  })
  if (of(now).blueprints.size === 0) return []
  const was = await describe(of(now), rules.before)
  return documentBreaks(plain(was), plain(await describe(of(next), rules.after)))
}

function plain(document: object): JsonObject {
  return JSON.parse(JSON.stringify(document))
}

/** Of operations that both have: those that are gone are a line of their own. Pure. */
export function documentBreaks(before: JsonObject, after: JsonObject): readonly string[] {
  const lines: string[] = []
  const [was, is] = [objectOf(before.paths), objectOf(after.paths)]
  for (const path of Object.keys(was))
    for (const method of Object.keys(objectOf(was[path]))) {
      const next = objectOf(is[path])[method]
      if (!isJsonObject(next)) continue
      const address = `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '')}`
      const found = operationBreaks(
        { operation: objectOf(objectOf(was[path])[method]), schemas: objectOf(before.schemas) },
        { operation: next, schemas: objectOf(after.schemas) },
      )
      lines.push(...found.map((line) => `${address}: ${line}`))
      if (lines.length >= MOST_LINES) return lines.slice(0, MOST_LINES)
    }
  return lines
}

interface Described {
  readonly operation: JsonObject
  readonly schemas: JsonObject
}

function operationBreaks(before: Described, after: Described): string[] {
  return [
    ...parameterBreaks(before, after),
    ...requestBreaks(
      typed(bodyOf(before.operation.requestBody), before),
      typed(bodyOf(after.operation.requestBody), after),
    ),
    ...replyBreaks(before, after),
  ]
}

function parameterBreaks(before: Described, after: Described): string[] {
  const known = new Map(objectsIn(before.operation.parameters).map((one) => [`${one.in} ${one.name}`, one]))
  return objectsIn(after.operation.parameters).flatMap((next) => {
    const one = known.get(`${next.in} ${next.name}`)
    if (next.required === true && one?.required !== true)
      return [`the parameter ${next.name} must be sent from now on.`]
    if (!one) return []
    const [was, is] = [typesOf(objectOf(one.schema)), typesOf(objectOf(next.schema))]
    return fits(was, is)
      ? []
      : [`the parameter ${next.name} must be ${words(is)} and no longer ${words(was)}.`]
  })
}

/** A schema with the named schemas that it may point to. */
interface Typed {
  readonly schema: JsonObject
  readonly schemas: JsonObject
}

function typed(schema: JsonObject, { schemas }: { readonly schemas: JsonObject }): Typed {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
  return { schema: name === undefined ? schema : objectOf(schemas[name]), schemas }
}

function requestBreaks(before: Typed, after: Typed): string[] {
  const required = textsIn(before.schema.required)
  const fields = objectOf(before.schema.properties)
  return Object.entries(objectOf(after.schema.properties)).flatMap(([name, next]) => {
    if (textsIn(after.schema.required).includes(name) && !required.includes(name))
      return [`${name} of the body must be sent from now on.`]
    const [was, is] = [typesOf(objectOf(fields[name])), typesOf(objectOf(next))]
    return fits(was, is) ? [] : [`${name} of the body must be ${words(is)} and no longer ${words(was)}.`]
  })
}

function replyBreaks(before: Described, after: Described): string[] {
  const [was, is] = [objectOf(before.operation.responses), objectOf(after.operation.responses)]
  const successes = Object.keys(was).filter((status) => status.startsWith('2'))
  return successes.flatMap((status) => {
    // Where a reply is not known before a run, its statuses are neither.
    if (is[status] === undefined && is.default === undefined) return [`the reply ${status} is gone.`]
    const [one, next] = [was[status], is[status]].map((reply) => bodyOf(reply ?? {}))
    return schemaBreaks(typed(one ?? {}, before), typed(next ?? {}, after), `the reply ${status}`, DEEPEST)
  })
}

function schemaBreaks(before: Typed, after: Typed, place: string, depth: number): string[] {
  const [was, is] = [before.schema, after.schema]
  const [then, now] = [typesOf(was), typesOf(is)]
  if (depth === 0 || then.length === 0 || now.length === 0) return []
  if (!fits(now, then)) return [`${place} is ${words(now)} and no longer ${words(then)}.`]
  const items = [was.items, is.items].map(objectOf)
  const inside = schemaBreaks(
    typed(items[0] ?? {}, before),
    typed(items[1] ?? {}, after),
    `each item of ${place}`,
    depth - 1,
  )
  const fields = objectOf(is.properties)
  // Without any named field nothing is known of them.
  if (Object.keys(fields).length === 0) return inside
  const still = textsIn(is.required)
  const ofFields = Object.entries(objectOf(was.properties)).flatMap(([name, field]) => {
    if (fields[name] === undefined) return [`${name} of ${place} is gone.`]
    if (textsIn(was.required).includes(name) && !still.includes(name))
      return [`${name} of ${place} may be missing.`]
    const [one, next] = [typed(objectOf(field), before), typed(objectOf(fields[name]), after)]
    return schemaBreaks(one, next, `${name} of ${place}`, depth - 1)
  })
  return [...inside, ...ofFields]
}

/** Empty where nothing is known. */
function typesOf({ type, anyOf, enum: values, const: one }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return textsIn(type)
  if (one !== undefined) return [typeOf(one)]
  if (Array.isArray(values)) return [...new Set(values.map(typeOf))]
  const parts = objectsIn(anyOf).map(typesOf)
  return parts.some((part) => part.length === 0) ? [] : [...new Set(parts.flat())]
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Whether each value of the one is one of the other; also where nothing is known of one of them. */
function fits(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return true
  return one.every((type) => other.includes(type) || (type === 'integer' && other.includes('number')))
}

function words(types: readonly string[]): string {
  return types.toSorted().join(' or ')
}

/** The JSON of a request or reply. */
function bodyOf(described: JsonValue | undefined): JsonObject {
  const content = objectOf(objectOf(described).content)
  return objectOf(objectOf(content['application/json']).schema)
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
