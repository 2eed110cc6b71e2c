/**
 * The rules of a storage's fields, held against mutations. A rule counts when a mutation writes its field, something
 * inside it, or something around it: `customer` set as a whole must keep to the rule of `customer.name`.
 */
import { invalidField } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'

/**
 * The mutations for a new document with the defaults of what they leave out. Throws INVALID_BODY naming the first field
 * that does not keep to its rule.
 */
export function mutationsToCreate(
  rules: readonly FieldRule[],
  mutations: readonly Mutation[],
): readonly Mutation[] {
  const given = applyMutations({}, mutations)
  const defaults = rules.flatMap((rule): Mutation[] => {
    const { name, storage, defaultValue } = rule
    // A field without a storage counts in all, and not every document has it.
    if (storage === undefined || defaultValue === undefined) return []
    if (valueAt(given, parseFieldPath(name)) !== undefined) return []
    return [{ op: 'set', field: name, value: defaultValue }]
  })
  checkRules(rules, defaults.length === 0 ? given : applyMutations(given, defaults))
  return defaults.length === 0 ? mutations : [...mutations, ...defaults]
}

/** Throws INVALID_BODY for what can be told before the document is known. Gives the rules that only the result can tell. */
export function checkChanges(
  rules: readonly FieldRule[],
  mutations: readonly Mutation[],
): readonly FieldRule[] {
  const touched = rules.filter((rule) => mutations.some(({ field }) => overlap(field, rule.name)))
  if (touched.length === 0) return touched
  const known = mutations.filter(({ op }) => op !== 'increment' && op !== 'append')
  // An increment, what is appended, and what is written inside a field, depend on what the document holds.
  const later = new Set(
    touched.filter((rule) =>
      mutations.some(
        ({ op, field }) =>
          overlap(field, rule.name) &&
          (op === 'increment' || op === 'append' || field.startsWith(`${rule.name}.`)),
      ),
    ),
  )
  const now = touched.filter((rule) => !later.has(rule))
  if (now.length > 0) checkRules(now, applyMutations({}, known))
  return [...later]
}

/** Throws INVALID_BODY naming the first field that does not keep to its rule. */
export function checkRules(rules: readonly FieldRule[], document: JsonObject): void {
  for (const rule of rules) {
    const problem = fieldValueProblem(rule, valueAt(document, parseFieldPath(rule.name)))
    if (problem) throw invalidField(rule.name, `${rule.name} ${problem}.`)
  }
}

export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}
