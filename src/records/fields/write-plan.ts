/**
 * What the fields of a storage add to each write of its documents, compiled once per change of its fields: defaults of a new
 * document, and on every write its computed fields and the one way in which instants are stored.
 */
import { roundTo } from '../../expressions/functions/numbers.ts'
import { invalidField } from '../../shared/errors.ts'
import { overlap, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, isEmptyValue, isSecondName } from '../../shared/field-rule.ts'
import { type FieldType, placesOf } from '../../shared/fields/field-type.ts'
import { instantOf } from '../../shared/fields/value-forms.ts'
import { type Foldings, foldingsOf } from '../../shared/folded-query.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { compileFieldExpression, type FieldExpression } from './field-expression.ts'
import type { FieldWriter } from './field-writer.ts'
import { convertedFields, formerValues, secondNames, withPresentNames } from './migrated-values.ts'
import { settlingValue } from './prepared-values.ts'

export interface WritePlan {
  /** Mutations for what a new document leaves out. */
  defaults(input: JsonObject, writer: FieldWriter): readonly Mutation[]
  /** Undefined where no field asks for it. Mutations of a document as it will be. */
  readonly complete:
    | ((document: JsonObject, writer: FieldWriter, isNew: boolean) => readonly Mutation[])
    | undefined
  /** The document with its values as they would be stored: what is looked for by a unique key is compared with those. */
  stored(document: JsonObject): JsonObject
  /** Names of fields of the type `instant`. */
  readonly instants: ReadonlySet<string>
  /** Of texts of which case does not count. */
  readonly foldings: Foldings
  /** Fields that changes leave as they are. */
  readonly fixed: readonly string[]
  /** Those of them that are numbered. */
  readonly numbered: readonly NumberedField[]
  /** While fields are renamed: the mutations under the names that count. */
  readonly renamed: ((mutations: readonly Mutation[]) => readonly Mutation[]) | undefined
  /** What a document that is restored still has under former names; undefined where no field had another one. */
  readonly former: ((document: JsonObject) => readonly Mutation[]) | undefined
}

export interface NumberedField {
  readonly name: string
  /** Its first number. */
  readonly from: number
}

interface Computed {
  readonly rule: FieldRule
  readonly expression: FieldExpression
}

const plans = new WeakMap<readonly FieldRule[], WritePlan>()

/** Of a list that `FieldRules.of` gave. */
export function writePlan(rules: readonly FieldRule[]): WritePlan {
  const known = plans.get(rules)
  if (known) return known
  const own = rules.filter(({ storage }) => storage !== undefined)
  const first = own.filter((rule) => !isSecondName(rule))
  const computed = inOrder(own.flatMap(compiled)).map((one) => computedValue(one))
  const named = (requested: FieldType) => first.filter(({ type }) => type === requested)
  const instants = named('instant').map(instantValue)
  const migrated = [convertedFields(own), secondNames(own)] as const
  const changed = [
    ...migrated[0],
    ...named('changed_by').map(writerValue),
    ...instants,
    ...computed,
    ...migrated[1],
  ]
  const numbers = named('autonumber')
  const completed = [...numbers.map(missingNumber), ...changed]
  const created = [...named('created_by').map(writerValue), ...numbers.map(newNumber), ...changed]
  const defaults = [...own.flatMap(settlingDefault), ...own.flatMap(defaultOf)]
  const plan: WritePlan = {
    defaults: (input, writer) => added(input, defaults, writer),
    complete:
      created.length === 0
        ? undefined
        : (document, writer, isNew) => added(document, isNew ? created : completed, writer),
    stored(document) {
      const written = instants.flatMap((instant) => instant(document) ?? [])
      return written.length === 0 ? document : applyMutations(document, written)
    },
    instants: new Set(named('instant').map(({ name }) => name)),
    foldings: foldingsOf(rules),
    fixed: [...named('created_by'), ...numbers].map(({ name }) => name),
    numbered: numbers.map(({ name, limits }) => ({ name, from: limits.start ?? 1 })),
    renamed: first.length === own.length ? undefined : (mutations) => withPresentNames(own, mutations),
    former: own.some(({ formerNames }) => formerNames)
      ? (document) => formerValues(own, document)
      : undefined,
  }
  plans.set(rules, plan)
  return plan
}

/** Computed fields that depend on themselves, in the order in which they do; undefined when there are none. */
function computedCircle(rules: readonly FieldRule[]): readonly string[] | undefined {
  const all = rules.flatMap(compiled)
  const done = new Set<Computed>()
  const visit = (one: Computed, way: readonly Computed[]): readonly Computed[] | undefined => {
    if (way.includes(one)) return [...way.slice(way.indexOf(one)), one]
    if (done.has(one)) return undefined
    done.add(one)
    for (const next of needs(one, all)) {
      const circle = visit(next, [...way, one])
      if (circle) return circle
    }
    return undefined
  }
  for (const one of all) {
    const circle = visit(one, [])
    if (circle) return circle.map(({ rule }) => rule.name)
  }
  return undefined
}

type Addition = (document: JsonObject, writer: FieldWriter) => Mutation | readonly Mutation[] | undefined

/** Each sees what those before it have added. */
function added(
  document: JsonObject,
  additions: readonly Addition[],
  writer: FieldWriter,
): readonly Mutation[] {
  const mutations: Mutation[] = []
  let present = document
  for (const addition of additions) {
    const made = [addition(present, writer) ?? []].flat()
    if (made.length === 0) continue
    mutations.push(...made)
    present = applyMutations(present, made)
  }
  return mutations
}

function settlingDefault(rule: FieldRule): Addition[] {
  const { name, settling } = rule
  if (!settling) return []
  const [path, made] = [parseFieldPath(name), settlingValue(rule, settling)]
  return [
    (document, writer) => {
      if (valueAt(document, path) !== undefined) return undefined
      const value = made(document, writer)
      return value === undefined ? undefined : { op: 'set', field: name, value }
    },
  ]
}

function defaultOf(rule: FieldRule): Addition[] {
  const { name, defaultValue, defaultExpression } = rule
  const path = parseFieldPath(name)
  const isThere = (document: JsonObject) => valueAt(document, path) !== undefined
  if (defaultExpression !== undefined) {
    const expression = compileFieldExpression(name, defaultExpression)
    return [
      (doc, writer) => {
        if (isThere(doc)) return undefined
        const value = fitted(rule, expression.value(writer.frame(doc)))
        return value === undefined ? undefined : { op: 'set', field: name, value }
      },
    ]
  }
  if (defaultValue === undefined) return []
  return [(doc) => (isThere(doc) ? undefined : { op: 'set', field: name, value: defaultValue })]
}

function compiled(rule: FieldRule): Computed[] {
  if (rule.computed === undefined) return []
  return [{ rule, expression: compileFieldExpression(rule.name, rule.computed) }]
}

/** What a client sends for it is replaced. */
function computedValue({ rule, expression }: Computed): Addition {
  const { name } = rule
  const path = parseFieldPath(name)
  return (doc, writer) => {
    const value = fitted(rule, expression.value(writer.frame(doc))) ?? null
    const before = valueAt(doc, path)
    if (isSame(before ?? null, value)) return undefined
    return { op: 'set', field: name, value }
  }
}

function isSame(before: JsonValue, value: JsonValue): boolean {
  if (before === value) return true
  if (typeof before !== 'object' || typeof value !== 'object') return false
  return JSON.stringify(before) === JSON.stringify(value)
}

/** A result has more digits than a decimal takes. */
function fitted({ type, limits }: FieldRule, value: JsonValue | undefined): JsonValue | undefined {
  if (type !== 'decimal' || typeof value !== 'number') return value
  return roundTo(value, placesOf(limits), Math.round)
}

function writerValue({ name }: FieldRule): Addition {
  return (_document, { user }) => ({ op: 'set', field: name, value: user ?? null })
}

/** What a client sends for it is replaced. */
function newNumber({ name }: FieldRule): Addition {
  return (_document, writer) => ({ op: 'set', field: name, value: writer.number(name) ?? null })
}

/** Of a stored document: it keeps the number that it has, and only a change that fills the field has taken one. */
function missingNumber({ name }: FieldRule): Addition {
  const path = parseFieldPath(name)
  return (document, writer) => {
    const value = writer.number(name)
    if (value === undefined || !isEmptyValue(valueAt(document, path))) return undefined
    return { op: 'set', field: name, value }
  }
}

/** Instants are compared as texts: all are written in UTC with milliseconds. */
function instantValue({ name }: FieldRule): (document: JsonObject) => Mutation | undefined {
  const path = parseFieldPath(name)
  return (document) => {
    const value = valueAt(document, path)
    const instant = value === undefined || value === null ? undefined : instantOf(value)
    if (instant === undefined) return undefined
    const written = new Date(instant).toISOString()
    return written === value ? undefined : { op: 'set', field: name, value: written }
  }
}

/** Those that others read come first. What a circle would be is left as it is; none is stored. */
function inOrder(all: readonly Computed[]): readonly Computed[] {
  const ordered = new Set<Computed>()
  const visit = (one: Computed, way: ReadonlySet<Computed>): void => {
    if (ordered.has(one) || way.has(one)) return
    for (const next of needs(one, all)) visit(next, new Set([...way, one]))
    ordered.add(one)
  }
  for (const one of all) visit(one, new Set())
  return [...ordered]
}

function needs({ expression }: Computed, all: readonly Computed[]): readonly Computed[] {
  return all.filter(({ rule }) => expression.reads.some((field) => overlap(field, rule.name)))
}

/** Each costs every write of its storage. */
const MOST_COMPUTED = 20

/** Throws INVALID_BODY for computed fields of a storage that cannot be kept together. */
export function checkComputed(rules: readonly FieldRule[]): void {
  if (rules.filter(({ computed }) => computed !== undefined).length > MOST_COMPUTED)
    throw invalidField('computed', `A storage has at most ${MOST_COMPUTED} computed fields.`)
  const circle = computedCircle(rules)
  if (circle)
    throw invalidField('computed', `Computed fields must not depend on themselves: ${circle.join(' → ')}.`)
}
