import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { checkGroupInput } from '../access/group-changes.ts'
import { checkedField } from '../records/fields/checked-field.ts'
import { unlistedIn } from '../records/fields/closed-fields.ts'
import { checkedConstraints } from '../records/fields/constraints.ts'
import { fieldExpressionProblem } from '../records/fields/field-expression.ts'
import { fieldDefaults } from '../records/fields/field-records.ts'
import { ruleOf } from '../records/fields/field-rules.ts'
import { scopeOf } from '../records/permissions/reference-query.ts'
import { checkedRules } from '../records/permissions/storage-rules.ts'
import { createFieldSchema } from '../shared/api/blueprints/blueprint-fields.ts'
import { createTemplateSchema } from '../shared/api/blueprints/templates.ts'
import { createStorageSchema } from '../shared/api/data/storages.ts'
import { createGroupSchema } from '../shared/api/people/users.ts'
import {
  type ApplicationParts,
  bodyOfPart,
  nameOfPart,
  type PartKind,
  partKinds,
} from '../shared/application/application-parts.ts'
import type { JsonPath } from '../shared/application/json-places.ts'
import type { Pause } from '../shared/cooperative.ts'
import { isDateMath } from '../shared/dates/date-math.ts'
import { QuoinError } from '../shared/errors.ts'
import { parseFieldPath, valueAt } from '../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isAutomatic, isFilledIn } from '../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../shared/json.ts'
import { nearestName } from '../shared/names/nearest-name.ts'
import { patternBudget } from '../shared/texts/pattern-budget.ts'
import { objectsIn, textsIn } from '../storage/document-fields.ts'
import { type References, referencesIn } from '../storage/reference/references.ts'
import { isOwnStorage, storageNameProblem } from '../storage/system-storages.ts'

/** What the API takes to make a part. */
const shapes = {
  groups: createGroupSchema,
  storages: createStorageSchema,
  fields: createFieldSchema,
  templates: createTemplateSchema,
} as const
const schemas = {
  groups: Compile(createGroupSchema),
  storages: Compile(createStorageSchema),
  fields: Compile(createFieldSchema),
  templates: Compile(createTemplateSchema),
} as const

const MOST_SCOPES = 1_000
/** Of one value: the library stops at 8, and a value that fits no part of a choice has several. */
export const moreFaults = () => Settings.Set({ maxErrors: 100 })

type ShapeErrors = ReturnType<ReturnType<typeof Compile>['Errors']>
/** Values that a message names, and those that it names also where one is probably meant. */
const [MOST_LISTED, FEW] = [40, 12]

/** What of a file its schema does not take, in words for its author. Of a value that fits no part of a choice one thing. */
export function shapeMisfits(schema: TSchema, errors: ShapeErrors, value: JsonValue): PartProblem[] {
  const rank = ({ keyword }: ShapeErrors[number]) =>
    // An unknown name is also reported as a value of a schema that nothing fits.
    keyword === 'additionalProperties' ? 0 : keyword === 'required' ? 1 : 2
  const choices = errors.filter(({ keyword }) => ['anyOf', 'oneOf'].includes(keyword))
  const named: string[] = []
  const found: PartProblem[] = []
  for (const error of errors.toSorted((one, other) => rank(one) - rank(other)))
    for (const { about, ...problem } of misfitsIn(schema, error, value)) {
      const choice = choices.find(({ instancePath }) => isWithin(error.instancePath, instancePath))
      const place = choice?.instancePath ?? about
      if (named.some((one) => isWithin(one, place) || isWithin(place, one))) continue
      named.push(place)
      found.push(problem)
    }
  return found
}

function isWithin(place: string, outer: string): boolean {
  return place === outer || place.startsWith(`${outer}/`)
}

/** `about`: what is wrong, which may be a name that is missing at the path. */
function misfitsIn(
  schema: TSchema,
  error: ShapeErrors[number],
  value: JsonValue,
): readonly (PartProblem & { readonly about: string })[] {
  const path = error.instancePath.split('/').slice(1)
  const at = (name: string) => [...path, name].join('.')
  const inside = (name: string) => `${error.instancePath}/${name}`
  if (error.keyword === 'additionalProperties')
    return error.params.additionalProperties.map((name) => {
      const meant = nearestName(name, namesAt(schema, path))
      const message = `${at(name)} is unknown here.${didYouMean(meant)}`
      return { path: [...path, name], about: inside(name), message }
    })
  if (error.keyword === 'required')
    return error.params.requiredProperties.map((name) => ({
      ...{ path, about: inside(name), message: `${at(name)} is missing.` },
    }))
  const place = path.join('.') || 'it'
  const about = error.instancePath
  if (error.keyword !== 'enum' || error.params.allowedValues.length > MOST_LISTED)
    return [{ path, about, message: `${place} ${error.message}.` }]
  const allowed = error.params.allowedValues.map(String)
  const found = path.reduce<JsonValue>((inner, name) => memberAt(inner, name), value)
  const meant = typeof found === 'string' ? nearestName(found, allowed) : undefined
  const got = JSON.stringify(found).slice(0, 100)
  const isClear = meant !== undefined && allowed.length > FEW
  const words = isClear ? `cannot be ${got}` : `must be one of ${allowed.join(', ')}; got ${got}`
  return [{ path, about, message: `${place} ${words}.${didYouMean(meant)}` }]
}

function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean ${name}?`
}

function memberAt(value: JsonValue, name: string): JsonValue {
  if (Array.isArray(value)) return value[Number(name)] ?? null
  return isJsonObject(value) ? (memberOf(value, name) ?? null) : null
}

interface ObjectShape {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly patternProperties?: Readonly<Record<string, unknown>>
  readonly items?: unknown
}

/** Names that an object may have there; none where the schema has a choice on the way. */
function namesAt(schema: unknown, path: readonly string[]): readonly string[] {
  let shape: unknown = schema
  for (const name of path) {
    if (!isShape(shape)) return []
    const { properties = {}, patternProperties = {}, items } = shape
    shape = Object.hasOwn(properties, name)
      ? properties[name]
      : (Object.values(patternProperties)[0] ?? items)
  }
  return isShape(shape) ? Object.keys(shape.properties ?? {}) : []
}

function isShape(value: unknown): value is ObjectShape {
  return typeof value === 'object' && value !== null
}

/** What an import would refuse of the parts of a file, as far as the file alone shows it. A line each. */
export function partsProblems(parts: ApplicationParts): readonly string[] {
  const references = referencesOf(parts)
  return partKinds.flatMap((kind) =>
    parts[kind].flatMap((part) =>
      problemsOfPart(kind, part, references).map(({ message }) => `${nameOfPart(kind, part)}: ${message}`),
    ),
  )
}

export interface PartProblem {
  /** Names of the fields of the part that lead to what is wrong. */
  readonly path: readonly string[]
  readonly message: string
}

/** Of all fields of a file, through which rules of its storages may lead. */
export function referencesOf({ fields }: ApplicationParts): References {
  return referencesIn(fields.flatMap((field) => ruleOf({ ...fieldDefaults, ...field }) ?? []))
}

/** `references`: those of the whole file, read once: read for each storage, 200 storages of 50 fields took 12 s. */
export function problemsOfPart(
  kind: PartKind,
  part: JsonObject,
  references: References,
): readonly PartProblem[] {
  const { was, name } = part
  const isNoWas = was !== undefined && (kind !== 'fields' || typeof was !== 'string' || was === name)
  const message = 'was is the former name of a field: a text that is not its name.'
  const conversion = kind === 'fields' ? conversionProblem(part) : undefined
  const found = [...(isNoWas ? [{ path: ['was'], message }] : []), ...(conversion ? [conversion] : [])]
  const body = bodyOfPart(part)
  const schema = schemas[kind]
  if (!schema.Check(body)) {
    moreFaults()
    return [...found, ...shapeMisfits(shapes[kind], schema.Errors(body), body)]
  }
  // Those of templates are no errors: a page is shown without what does not fit.
  if (kind === 'fields') found.push(...refusals(() => checkedField({ ...fieldDefaults, ...body })))
  if (kind === 'storages') found.push(...storageProblems(body, references))
  if (kind === 'groups') {
    const scopes = textsIn(part.scopes)
    const groups = [{ ...body, scopes: [] }, ...scopes.map((scope) => ({ scopes: [scope] }))]
    for (const group of scopes.length > MOST_SCOPES ? [body] : groups)
      found.push(...refusals(() => checkGroupInput(group)))
  }
  return found
}

function refusals(check: () => void): PartProblem[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return [{ path: error.fields?.[0]?.split('.') ?? [], message: error.message }]
  }
}

/** Of `fill` and `convert`, as far as the rest of the field can be read. */
function conversionProblem(field: JsonObject): PartProblem | undefined {
  const rule = ruleOf({ ...fieldDefaults, ...bodyOfPart(field) })
  const { convert, fill } = field
  if (convert === undefined && fill === undefined) return undefined
  const word = convert === undefined ? 'fill' : 'convert'
  if (rule && isAutomatic(rule))
    return {
      path: [word],
      message: `${word} is for fields that have a value of their own: this one is written by Quoin.`,
    }
  if (convert !== undefined && (typeof convert !== 'string' || !convert.startsWith('=')))
    return {
      path: ['convert'],
      message: 'convert must be an expression over value and doc, such as "=number(value)".',
    }
  for (const [path, text] of Object.entries({ convert, fill })) {
    if (!rule || typeof text !== 'string' || !text.startsWith('=')) continue
    const wrong = fieldExpressionProblem(text.slice(1), 'conversion', rule.type)
    if (wrong !== undefined) return { path: [path], message: `${path}: ${wrong}` }
  }
  if (!rule || fill === undefined || (typeof fill === 'string' && fill.startsWith('='))) return undefined
  const misfit = fieldValueProblem(rule, fill, patternBudget())
  return misfit === undefined ? undefined : { path: ['fill'], message: `fill ${misfit}.` }
}

function storageProblems({ name, rules, constraints }: JsonObject, references: References): PartProblem[] {
  const text = String(name)
  const problem = isOwnStorage(text)
    ? 'must not start with _: those storages belong to Quoin itself'
    : storageNameProblem(text)
  const scope = scopeOf(text, references)
  return [
    ...(problem ? [{ path: ['name'], message: `name ${problem}.` }] : []),
    ...Object.entries(isJsonObject(rules) ? rules : {}).flatMap(([rule, one]) =>
      refusals(() => checkedRules({ [rule]: one }, scope)),
    ),
    ...refusals(() => checkedConstraints(constraints ?? [])),
  ]
}

interface SeedProblem {
  readonly path: JsonPath
  readonly message: string
}

/** Documents that are named of a file. */
const MOST_NAMED = 20

/** Of first documents, by what their storage says of its fields. Its rules of who may write are of a cluster. */
export async function problemsOfSeed(
  name: string,
  { upsert_by: key, documents }: JsonObject,
  storage: JsonObject | undefined,
  pause: Pause,
): Promise<readonly SeedProblem[]> {
  if (storage === undefined) return [{ path: [], message: `The application has no storages/${name}.json.` }]
  const fields = isJsonObject(storage.fields) ? storage.fields : {}
  const isKeyed = typeof key === 'string'
  const field = isKeyed ? memberOf(fields, key) : undefined
  if (isKeyed && !(isJsonObject(field) && field.unique === true))
    return [
      {
        path: [],
        message: `$upsert_by must name a field of storages/${name}.json with "unique": true; got ${JSON.stringify(key)}.`,
      },
    ]
  const rules = Object.entries(fields).flatMap(([called, one]) => {
    const body = isJsonObject(one) ? bodyOfPart({ storage: name, name: called, ...one }) : undefined
    return (isJsonObject(body) && ruleOf({ ...fieldDefaults, ...body })) || []
  })
  const found: SeedProblem[] = []
  const seen = new Set<JsonValue>()
  for (const [at, document] of objectsIn(documents).entries()) {
    await pause()
    if (found.length >= MOST_NAMED) break
    const place = ['documents', at] as const
    const value = isKeyed ? document[key] : undefined
    const hasKey = (typeof value === 'string' || typeof value === 'number') && !seen.has(value)
    if (isKeyed && !hasKey)
      found.push({
        path: [...place, key],
        message: `document ${at + 1} must have a ${key} of its own, a text or a number.`,
      })
    if (hasKey) seen.add(value)
    found.push(...misfitsOf(document, rules, isKeyed).map((one) => ({ ...one, path: [...place, one.path] })))
    const { _meta, ...content } = document
    const unlisted = storage.closed === true ? unlistedIn(content, rules) : undefined
    if (unlisted !== undefined)
      found.push({
        path: [...place, unlisted.name],
        message: `the storage ${name} has no field ${unlisted.name}, and it is closed.`,
      })
  }
  return found.slice(0, MOST_NAMED)
}

/** `isKeyed`: it may be there already, with the fields that it leaves out. */
function misfitsOf(document: JsonObject, rules: readonly FieldRule[], isKeyed: boolean) {
  return rules.flatMap((rule) => {
    const { name, type } = rule
    const value = valueAt(document, parseFieldPath(name))
    const isDated = ['date', 'day', 'instant'].includes(type) && typeof value === 'string'
    if (isAutomatic(rule) || (isDated && isDateMath(value))) return []
    if (value === undefined && (isKeyed || isFilledIn(rule))) return []
    const problem = fieldValueProblem(rule, value, patternBudget())
    return problem === undefined ? [] : [{ path: name, message: `${name} ${problem}.` }]
  })
}
