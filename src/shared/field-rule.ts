/**
 * What a blueprint field says about the values of one field of documents, and whether a value keeps to it. Plain data
 * and no clock, so that a form can check the same before it sends.
 *
 * Empty is: missing, null, blank text, an empty list or object. A required field must not be empty; one that is not
 * required may be null, and blank text where the type is text, and then nothing else is asked of it. Types are strict:
 * the text "5" is no number.
 */

import type { FieldLimits } from './fields/field-limits.ts'
import { type FieldType, fieldTypeEntries } from './fields/field-type.ts'
import type { JsonValue } from './json.ts'
import { characterCount } from './texts/character-count.ts'
import { type Collation, type CollationName, isCollation, type TextFolding } from './texts/collations.ts'
import type { PatternSpending } from './texts/pattern-budget.ts'
import { patternMisfit } from './texts/text-pattern.ts'

export interface FieldRule {
  /** Dotted, as in documents. */
  readonly name: string
  /** The one storage that it is about. Undefined: all, and then documents may be without the field. */
  readonly storage: string | undefined
  readonly type: FieldType
  readonly required: boolean
  /** What a new document gets that does not say; undefined for nothing. */
  readonly defaultValue: JsonValue | undefined
  readonly limits: FieldLimits
  readonly unique?: FieldUnique
  /** An expression for what a new document gets that leaves it out. */
  readonly defaultExpression?: string
  /** An expression over the document, which every write keeps current. What a client sends is replaced. */
  readonly computed?: string
  /** For people, beside inputs and in the API document. */
  readonly label?: string
  readonly help?: string
  /** Smaller ones come first, those without last. */
  readonly order?: number
  readonly reference?: FieldReference
  /** How lists are ordered by it. */
  readonly collation?: CollationName
  /** Texts that differ only in case are the same in searches, and in what is unique; with `accents` also those that differ in accents. */
  readonly ignores?: 'case' | 'accents'
  /** Expressions over `user`: who sees the field, and who may set it. Everyone who may read or write the document without one. */
  readonly visibleTo?: string
  readonly settableBy?: string
  /** While the field of this name is renamed into this one: each write copies its value. */
  readonly copyOf?: string
  /** While values are removed from a former name: the field that has them now. */
  readonly leftOverOf?: string
  /** Of `leftOverOf`: each write still copies the value to it, for flows that know the former name only. */
  readonly isBeside?: true
  /** While stored values are converted: what each write does with one that does not fit. */
  readonly conversion?: FieldConversion
  /** While documents get ready for a release: what each write does for the field, or for `copyOf`. */
  readonly preparation?: FieldPreparation
  /** After a release that made values of it: what new documents still get, of flows that do not know it yet. */
  readonly settling?: SettlingField
  /** It has a value ahead of the release that makes the field. */
  readonly isAhead?: true
  /** Of `leftOverOf`: the values go, also where the field has none. */
  readonly isDiscarded?: true
  /** Names under which removed documents may still have its value. */
  readonly formerNames?: readonly string[]
}

export interface FieldConversion {
  readonly timeZone: string
  /** Choices that have another name now. */
  readonly renamedValues: readonly RenamedValue[]
  /** What happens to a value that does not fit; undefined where it stays as it is. */
  readonly misfits?: MisfitRule | undefined
}

/** Of documents ahead of a release: `fill` where the field has nothing, `convert` for a value that is there. */
export interface FieldPreparation {
  /** A value, or an expression over `doc` as a text that begins with `=`. */
  readonly fill?: JsonValue
  /** An expression over `value` and `doc`, with its `=`. */
  readonly convert?: string
  /** What the values are to fit: the field as the release has it. */
  readonly fitting: FieldRule
  /** In place: what they must fit as well, because it counts until then. */
  readonly present?: FieldRule
}

export interface SettlingField extends Pick<FieldPreparation, 'fill' | 'convert'> {
  /** The field that values are made of. */
  readonly from: string
}

export interface RenamedValue {
  readonly from: string | number
  readonly to: string | number
}

export interface MisfitRule {
  /** Stored in its place. */
  readonly value: JsonValue
  /** The field that keeps the former value. */
  readonly keepIn?: string
}

/** The fields that a storage's documents have, by their rules. */
export interface FieldsOf {
  (storage: string): readonly FieldRule[]
  /** Whether its documents have no others. */
  readonly isClosed?: (storage: string) => boolean
}

/** Whether a new document gets it without being given it. */
export function isFilledIn(rule: FieldRule): boolean {
  return rule.defaultValue !== undefined || rule.defaultExpression !== undefined || isAutomatic(rule)
}

/** Whether each write gives it its value, and what is sent for it does not count. */
export function isAutomatic(rule: FieldRule): boolean {
  return rule.computed !== undefined || isSecondName(rule) || fieldTypeEntries[rule.type].automatic === true
}

/** While a field is renamed, it has a second name for a while; one that a release makes has values before it. */
export function isSecondName({ copyOf, leftOverOf, isAhead }: FieldRule): boolean {
  return copyOf !== undefined || leftOverOf !== undefined || isAhead === true
}

/** How a search of documents with these fields sorts by one of them: texts as people do, unless the field says otherwise. */
export function sortCollation(rules: readonly FieldRule[], field: string): Collation | undefined {
  const rule = rules.find(({ name }) => name === field)
  if (rule === undefined || !isFreeText(rule)) return undefined
  const { collation = 'und' } = rule
  return isCollation(collation) ? collation : undefined
}

/** What of its texts does not count in searches; undefined where all does. */
export function textFolding(rule: FieldRule): TextFolding | undefined {
  if (rule.ignores === undefined || !isFreeText(rule)) return undefined
  const { collation = 'und' } = rule
  return { collation: isCollation(collation) ? collation : 'und', ignoreAccents: rule.ignores === 'accents' }
}

export function isFreeText({ type }: Pick<FieldRule, 'type'>): boolean {
  return takesBlank[type] === true
}

/** No two present documents may hold the same value. */
export interface FieldUnique {
  /** The name that fields share which are unique together; the field's own for one that is unique by itself. */
  readonly key: string
  readonly ignoreCase: boolean
  readonly ignoreAccents: boolean
}

export const onDeletes = ['refuse', 'clear', 'delete'] as const

/** The field holds the guid of a present document, or nothing. */
export interface FieldReference {
  /** Whose documents it refers to. */
  readonly storage: string
  /** What the end of that document does: it is refused, clears the field, or ends the documents that refer to it too. */
  readonly onDelete: (typeof onDeletes)[number]
}

export function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** What is wrong with a value, in words that finish "<field> …", or undefined. `spend`: of all fields of its document. */
export function fieldValueProblem(
  rule: FieldRule,
  value: JsonValue | undefined,
  spend: PatternSpending,
): string | undefined {
  if (rule.storage === undefined && value === undefined) return undefined
  if (rule.required && isEmptyValue(value)) return 'is required and must not be empty'
  if (value === undefined || value === null) return undefined
  const problem = fieldTypeEntries[rule.type].problem(value, rule.limits)
  if (problem !== undefined) return problem
  if (takesBlank[rule.type] && typeof value === 'string' && value.trim() === '') return undefined
  return limitProblem(rule, value, spend)
}

/** Texts of any form. */
const takesBlank: Readonly<Partial<Record<FieldType, true>>> = { string: true, line: true, long_text: true }

function limitProblem(
  { type, limits }: FieldRule,
  value: JsonValue,
  spend: PatternSpending,
): string | undefined {
  return (
    choiceProblem(limits, value) ??
    lengthProblem(limits, value) ??
    rangeProblem(type, limits, value) ??
    (limits.pattern !== undefined && typeof value === 'string'
      ? patternMisfit(limits.pattern, value, spend)
      : undefined)
  )
}

function choiceProblem({ choices }: FieldLimits, value: JsonValue): string | undefined {
  if (choices === undefined) return undefined
  // A list may have a hundred thousand items, and a field 500 choices.
  const known = Array.isArray(value) && value.length > 1 ? new Set<JsonValue>(choices) : undefined
  const isChoice = (item: JsonValue) => known?.has(item) ?? choices.some((choice) => choice === item)
  const fits = Array.isArray(value) ? value.every(isChoice) : isChoice(value)
  if (fits) return undefined
  const some = choices.slice(0, 20).join(', ')
  return `${Array.isArray(value) ? 'may hold only' : 'must be one of'} ${some}${choices.length > 20 ? ', …' : ''}`
}

function lengthProblem(limits: FieldLimits, value: JsonValue): string | undefined {
  if (typeof value !== 'string' && !Array.isArray(value)) return undefined
  const { min_length: min, max_length: max } = limits
  if (min === undefined && max === undefined) return undefined
  const noun = typeof value === 'string' ? 'characters' : 'items'
  const length = typeof value === 'string' ? characterCount(value) : value.length
  if (min !== undefined && length < min) return `must have at least ${min} ${noun}`
  return max !== undefined && length > max ? `must have at most ${max} ${noun}` : undefined
}

function rangeProblem(type: FieldType, limits: FieldLimits, value: JsonValue): string | undefined {
  const { at: read } = fieldTypeEntries[type]
  const at = read?.(value)
  if (read === undefined || at === undefined) return undefined
  const [min, max] = [bound(limits.min, read), bound(limits.max, read)]
  if (min !== undefined && at < min) return `must be at least ${limits.min}`
  return max !== undefined && at > max ? `must be at most ${limits.max}` : undefined
}

function bound(
  limit: number | string | undefined,
  read: (value: JsonValue) => number | undefined,
): number | undefined {
  return limit === undefined ? undefined : read(limit)
}

/**
 * Which fields of an object that an expression made are null because what they were made of was not sent: `{ status: body.status }` of
 * a body without a status. A new document gets the default of such a field, and null where null was sent.
 */
const unsent = new WeakMap<object, string[]>()

export function noteUnsent(object: object, key: string): void {
  const keys = unsent.get(object)
  if (keys) keys.push(key)
  else unsent.set(object, [key])
}

/** Dotted names of the unsent fields of the value that a field is set to, itself among them. */
export function unsentNames(object: object, key: string, value: unknown): readonly string[] {
  if (value === null) return unsent.get(object)?.includes(key) ? [key] : []
  if (typeof value !== 'object') return []
  return (unsent.get(value) ?? []).map((inner) => `${key}.${inner}`)
}
