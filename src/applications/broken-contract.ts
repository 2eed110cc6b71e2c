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
/** Pairs of schemas that are compared for one operation: 8 levels of 100 fields that refer to themselves have no end. */
const MOST_PAIRS = 5000

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
  const compare = comparison(before.schemas, after.schemas)
  return [
    ...parameterBreaks(before, after, compare),
    ...bodyBreaks(before, after, compare),
    ...replyBreaks(before, after, compare),
  ]
}

/** Lines of two schemas. Of a request each value that was right stays right, a reply has no value that it had not. */
type Compare = (side: 'request' | 'reply', was: JsonObject, is: JsonObject, place: string) => string[]

function parameterBreaks(before: Described, after: Described, compare: Compare): string[] {
  const of = ({ operation }: Described) =>
    new Map(objectsIn(operation.parameters).map((one) => [`${one.in} ${one.name}`, one]))
  const [known, left] = [of(before), of(after)]
  const gone = [...known].filter(([key]) => !left.has(key))
  const others = [...left].flatMap(([key, next]) => {
    const one = known.get(key)
    const place = `the parameter ${next.name}`
    if (next.required === true && one?.required !== true) return [`${place} must be sent from now on.`]
    return one ? compare('request', objectOf(one.schema), objectOf(next.schema), place) : []
  })
  return [...gone.map(([, { name }]) => `the parameter ${name} is no longer read.`), ...others]
}

function bodyBreaks(before: Described, after: Described, compare: Compare): string[] {
  const [was, is] = [before, after].map(({ operation }) => objectOf(operation.requestBody))
  const [formats, next] = [was, is].map((body) => objectOf(body?.content))
  const lines: string[] = []
  if (is?.required === true && was?.required !== true) lines.push('a body must be sent from now on.')
  for (const [format, content] of Object.entries(formats ?? {})) {
    const now = next?.[format]
    const place = format === 'application/json' ? 'the body' : `the body (${format})`
    if (now === undefined) lines.push(`${place} is no longer accepted.`)
    else
      lines.push(
        ...compare('request', objectOf(objectOf(content).schema), objectOf(objectOf(now).schema), place),
      )
  }
  // Most forms have the fields of the JSON: what was said of it is not said again.
  const json = lines.map((line) => line.replace('the body (multipart/form-data)', 'the body'))
  return lines.filter((_, at) => json.indexOf(json[at] ?? '') === at)
}

function replyBreaks(before: Described, after: Described, compare: Compare): string[] {
  const [was, is] = [objectOf(before.operation.responses), objectOf(after.operation.responses)]
  const successes = Object.keys(was).filter((status) => status.startsWith('2'))
  return successes.flatMap((status) => {
    // Where a reply is not known before a run, its statuses are neither.
    if (is[status] === undefined && is.default === undefined) return [`the reply ${status} is gone.`]
    const [formats, next] = [was[status], is[status]].map((reply) => objectOf(objectOf(reply).content))
    if (Object.keys(next ?? {}).length === 0) return []
    return Object.entries(formats ?? {}).flatMap(([format, content]) => {
      const now = next?.[format]
      if (now === undefined) return [`the reply ${status} is no longer ${format}.`]
      const [one, other] = [content, now].map((described) => objectOf(objectOf(described).schema))
      return compare('reply', one ?? {}, other ?? {}, `the reply ${status}`)
    })
  })
}

function comparison(schemas: JsonObject, nextSchemas: JsonObject): Compare {
  let pairs = 0
  const named = (schema: JsonObject, all: JsonObject): JsonObject => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
    return name === undefined ? schema : objectOf(all[name])
  }
  const at =
    (depth: number): Compare =>
    (side, before, after, place) => {
      pairs += 1
      const [was, is] = [named(before, schemas), named(after, nextSchemas)]
      const [then, now] = [typesOf(was), typesOf(is)]
      if (depth === 0 || pairs > MOST_PAIRS || (side === 'reply' && (then.length === 0 || now.length === 0)))
        return []
      const inside = at(depth - 1)
      if (side === 'request' && then.length === 0 && now.length > 0)
        return [`${place} must be ${words(now)} from now on.`]
      if (side === 'request' && !fits(then, now))
        return [`${place} must be ${words(now)} and no longer ${words(then)}.`]
      if (side === 'reply' && !fits(now, then))
        return [`${place} is ${words(now)} and no longer ${words(then)}.`]
      return [
        ...valueBreaks(side, was, is, place),
        ...inside(side, objectOf(was.items), objectOf(is.items), `each item of ${place}`),
        ...fieldBreaks(inside)(side, objectIn(was, schemas), objectIn(is, nextSchemas), place),
      ]
    }
  /** Of "an object or null" the object is compared. */
  const objectIn = (schema: JsonObject, all: JsonObject): JsonObject => {
    const choices = objectsIn(schema.anyOf).map((choice) => named(choice, all))
    const [one, ...more] = choices.filter(({ properties }) => isJsonObject(properties))
    return one && more.length === 0 ? one : schema
  }
  return at(DEEPEST)
}

function fieldBreaks(compare: Compare): Compare {
  return (side, was, is, place) => {
    const [fields, next] = [objectOf(was.properties), objectOf(is.properties)]
    const [required, still] = [textsIn(was.required), textsIn(is.required)]
    // Without any named field nothing is known of them.
    if (Object.keys(next).length === 0) return []
    const lines = Object.entries(fields).flatMap(([name, field]) => {
      const missing = side === 'request' ? 'no longer read' : 'gone'
      if (next[name] === undefined) return [`${name} of ${place} is ${missing}.`]
      if (side === 'reply' && required.includes(name) && !still.includes(name))
        return [`${name} of ${place} may be missing.`]
      return compare(side, objectOf(field), objectOf(next[name]), `${name} of ${place}`)
    })
    const asked = side === 'request' ? still.filter((name) => !required.includes(name)) : []
    return [...asked.map((name) => `${name} of ${place} must be sent from now on.`), ...lines]
  }
}

/** Limits by their name in JSON Schema: whether the second is stricter than the first. */
const stricter: Readonly<Record<string, (was: number, is: number) => boolean>> = {
  minimum: (was, is) => is > was,
  minLength: (was, is) => is > was,
  maximum: (was, is) => is < was,
  maxLength: (was, is) => is < was,
  maxItems: (was, is) => is < was,
}

/** Values that are chosen from a list, and their limits. */
function valueBreaks(side: 'request' | 'reply', was: JsonObject, is: JsonObject, place: string): string[] {
  const [before, after] = [valuesOf(was), valuesOf(is)]
  const [some, all] = side === 'request' ? [before, after] : [after, before]
  const others = all && some?.filter((value) => !all.includes(value))
  const shown = (values: readonly string[]) =>
    values.slice(0, 5).join(', ') + (values.length > 5 ? ', …' : '')
  if (side === 'reply') {
    if (before && !after) return [`${place} may have other values from now on.`]
    return others?.length ? [`${place} may be ${shown(others)} from now on.`] : []
  }
  const lines = Object.entries(stricter).flatMap(([name, isStricter]) => {
    const [old, next] = [was[name], is[name]]
    if (typeof next !== 'number') return []
    if (typeof old !== 'number') return [`${place} has the ${name} ${next} from now on.`]
    return isStricter(old, next) ? [`${place} has the ${name} ${next} and no longer ${old}.`] : []
  })
  if (typeof is.pattern === 'string' && is.pattern !== was.pattern)
    lines.push(`${place} must fit another pattern from now on.`)
  if (after && !before) lines.push(`${place} must be one of ${shown(after)} from now on.`)
  if (others?.length) lines.push(`${place} must not be ${shown(others)} from now on.`)
  return lines
}

function valuesOf({ enum: values, const: one }: JsonObject): readonly string[] | undefined {
  if (one !== undefined) return [JSON.stringify(one)]
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined
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

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
