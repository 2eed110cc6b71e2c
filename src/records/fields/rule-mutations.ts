/**
 * The rules of a storage's fields, held against mutations. A rule counts when a mutation writes its field, something
 * inside it, or something around it: `customer` set as a whole must keep to the rule of `customer.name`.
 */
import { invalidField } from '../../shared/errors.ts'
import { fieldOverlaps, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isAutomatic } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import type { WriteCondition } from '../../storage/database.ts'
import { checkListed } from './closed-fields.ts'
import type { StorageRules } from './field-rules.ts'
import { type FieldWriter, type TakenNumbers, withNumbers } from './field-writer.ts'
import { writePlan } from './write-plan.ts'

/** A new document with the defaults of what it leaves out, before anything is computed. */
export interface FilledDocument {
  readonly mutations: readonly Mutation[]
  readonly document: JsonObject
  readonly writer: FieldWriter
}

/** Throws INVALID_BODY naming the first field that does not keep to its rule, of those that are given. */
export function filledToCreate(
  rules: readonly FieldRule[],
  written: readonly Mutation[],
  writer: FieldWriter,
): FilledDocument {
  const { defaults, complete } = writePlan(rules)
  const mutations = withoutUnsent(rules, written)
  const input = applyMutations({}, mutations)
  const added = defaults(input, writer)
  const document = added.length === 0 ? input : applyMutations(input, added)
  // What is given comes first, so that a wrong value is named and not the expression that met it.
  checkRules(complete ? rules.filter((rule) => !isAutomatic(rule)) : rules, document)
  return { mutations: added.length === 0 ? mutations : [...mutations, ...added], document, writer }
}

/** What was not sent counts as left out, where the field has a default. */
function withoutUnsent(rules: readonly FieldRule[], mutations: readonly Mutation[]): readonly Mutation[] {
  const unsent = mutations.flatMap((one) => (one.op === 'set' ? (one.unsent ?? []) : []))
  if (unsent.length === 0) return mutations
  const document = applyMutations({}, mutations)
  const removed = rules.flatMap(({ name, defaultValue, defaultExpression }): Mutation[] => {
    const hasDefault = defaultValue !== undefined || defaultExpression !== undefined
    // A later mutation may have set it.
    const isNull = valueAt(document, parseFieldPath(name)) === null
    return hasDefault && isNull && unsent.includes(name) ? [{ op: 'remove', field: name }] : []
  })
  return removed.length === 0 ? mutations : [...mutations, ...removed]
}

/** The mutations of a new or restored document with what each write of its fields adds. Throws INVALID_BODY as above. */
export function completedToCreate(
  rules: readonly FieldRule[],
  { mutations, document, writer }: FilledDocument,
  numbers: TakenNumbers | undefined,
  isNew: boolean,
): readonly Mutation[] {
  const { complete } = writePlan(rules)
  if (!complete) return mutations
  const completed = complete(document, withNumbers(writer, numbers), isNew)
  checkRules(rules.filter(isCheckedAfter), applyMutations(document, completed))
  return [...mutations, ...completed]
}

/** What the fields add to a document as a change makes it. Throws INVALID_BODY naming the field that does not fit. */
export function completions(
  rules: readonly FieldRule[],
  later: readonly FieldRule[],
  after: JsonObject,
  writer: FieldWriter,
): readonly Mutation[] {
  checkRules(
    later.filter((rule) => !isAutomatic(rule)),
    after,
  )
  const { complete, fixed } = writePlan(rules)
  const added = complete?.(after, writer, false) ?? []
  checkRules(
    // What a change leaves as it is may be missing in a document that is older than the field.
    rules.filter((rule) => isCheckedAfter(rule) && !fixed.includes(rule.name)),
    added.length === 0 ? after : applyMutations(after, added),
  )
  return added
}

/** Throws INVALID_BODY for what can be told before the document is known. Gives the rules that only the result can tell. */
function checkChanges(rules: readonly FieldRule[], mutations: readonly Mutation[]): readonly FieldRule[] {
  const written = fieldOverlaps(mutations.map(({ field }) => field))
  const touched = rules.filter((rule) => !isAutomatic(rule) && written.overlaps(rule.name))
  if (touched.length === 0) return touched
  const known = mutations.filter(({ op }) => op !== 'increment' && op !== 'append')
  // An increment, what is appended, and what is written inside a field, depend on what the document holds.
  const added = fieldOverlaps(
    mutations.filter(({ op }) => op === 'increment' || op === 'append').map(({ field }) => field),
  )
  const later = new Set(touched.filter(({ name }) => added.overlaps(name) || written.hasInside(name)))
  const now = touched.filter((rule) => !later.has(rule))
  if (now.length > 0) checkRules(now, applyMutations({}, known))
  return [...later]
}

/** Throws INVALID_BODY naming the first field that does not keep to its rule. */
function checkRules(rules: readonly FieldRule[], document: JsonObject): void {
  const spend = patternBudget()
  for (const rule of rules) {
    const problem = fieldValueProblem(rule, valueAt(document, parseFieldPath(rule.name)), spend)
    if (problem) throw invalidField(rule.name, `${rule.name} ${problem}.`)
  }
}

/**
 * What the rules say of the mutations before the document is known. When they refuse them, but the change has a condition, the
 * condition speaks first, on the document: not found, conflict and refused come before the rules.
 */
export function checked(
  { rules, closed, storage }: StorageRules & { readonly storage: string },
  mutations: readonly Mutation[],
  condition: WriteCondition | undefined,
): { readonly later: readonly FieldRule[]; readonly condition: WriteCondition | undefined } {
  const allows = condition?.allows
  const check = () => {
    if (closed) checkListed(storage, rules, mutations)
    return { later: checkChanges(rules, mutations), condition }
  }
  if (!allows) return check()
  try {
    return check()
  } catch (error) {
    const refuse = () => {
      throw error
    }
    return { later: [], condition: { ...condition, allows: (document) => allows(document) && refuse() } }
  }
}

/** What does not become a value of a release that is to come is no reason to refuse a write. */
function isCheckedAfter(rule: FieldRule): boolean {
  return isAutomatic(rule) && rule.preparation === undefined
}

/** What is sent for fields that changes leave as they are does not count. */
export function withoutFixed(mutations: readonly Mutation[], fixed: readonly string[]): readonly Mutation[] {
  if (fixed.length === 0) return mutations
  return mutations.filter(
    ({ field }) => !fixed.some((name) => field === name || field.startsWith(`${name}.`)),
  )
}
