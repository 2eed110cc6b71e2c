/** What each write of a document does for the fields whose migration is under way; `field-migration.ts` says why. */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, isEmptyValue, isSecondName } from '../../shared/field-rule.ts'
import { convertedValue } from '../../shared/fields/converted-value.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { FieldWriter } from './field-writer.ts'
import { preparedFields } from './prepared-values.ts'

type Migrating = (document: JsonObject, writer: FieldWriter) => readonly Mutation[]

/** Before anything is computed from the values. */
export function convertedFields(rules: readonly FieldRule[]): readonly Migrating[] {
  return rules.flatMap((rule) => {
    const { name, conversion } = rule
    if (!conversion) return []
    const path = parseFieldPath(name)
    return [
      (document: JsonObject): readonly Mutation[] => {
        const value = valueAt(document, path)
        if (value === undefined || value === null) return []
        const read = convertedValue(rule, value, conversion)
        if ('value' in read)
          return read.value === value ? [] : [{ op: 'set', field: name, value: read.value }]
        const { misfits } = conversion
        if (!misfits) return []
        const copied: Mutation[] =
          misfits.keepIn === undefined ? [] : [{ op: 'set', field: misfits.keepIn, value }]
        return [...copied, { op: 'set', field: name, value: misfits.value }]
      },
    ]
  })
}

/** Behind everything that writes values. */
export function secondNames(rules: readonly FieldRule[]): readonly Migrating[] {
  return rules.flatMap((rule) => {
    const { name, copyOf, leftOverOf, isDiscarded, isBeside } = rule
    const path = parseFieldPath(name)
    if (rule.preparation) return preparedFields(rule, rule.preparation)
    if (copyOf !== undefined) return [(document: JsonObject) => copied(document, name, copyOf)]
    if (leftOverOf === undefined) return []
    if (isBeside) return [(document: JsonObject) => copied(document, name, leftOverOf)]
    const present = parseFieldPath(leftOverOf)
    return [
      (document: JsonObject) => {
        const value = valueAt(document, path)
        if (value === undefined) return []
        const isMissing = !isDiscarded && valueAt(document, present) === undefined
        return [
          ...(isMissing ? [{ op: 'set', field: leftOverOf, value } as const] : []),
          { op: 'remove', field: name },
        ]
      },
    ]
  })
}

function copied(document: JsonObject, to: string, from: string): readonly Mutation[] {
  const value = valueAt(document, parseFieldPath(from))
  const there = valueAt(document, parseFieldPath(to))
  if (value === there || (value !== undefined && JSON.stringify(value) === JSON.stringify(there))) return []
  return value === undefined ? [{ op: 'remove', field: to }] : [{ op: 'set', field: to, value }]
}

/**
 * The mutations under the name that counts: what is written to the second one is meant for the field. Where both are written, as by a
 * client that sends back what it has read, the name that counts does.
 */
export function withPresentNames(
  rules: readonly FieldRule[],
  mutations: readonly Mutation[],
): readonly Mutation[] {
  // What is written to a name with another form of the value is not meant for that value.
  const second = rules.filter((rule) => isSecondName(rule) && !rule.preparation && !rule.isDiscarded)
  if (second.length === 0) return mutations
  return second.reduce(
    (all, { name, copyOf, leftOverOf }) => renamed(all, name, copyOf ?? leftOverOf ?? name),
    mutations,
  )
}

function renamed(mutations: readonly Mutation[], name: string, present: string): readonly Mutation[] {
  const isIn = (field: string, around: string) => field === around || field.startsWith(`${around}.`)
  const both = mutations.some(({ field }) => isIn(field, present))
  return mutations.flatMap((mutation): readonly Mutation[] => {
    const { field } = mutation
    if (isIn(field, name))
      return both ? [] : [{ ...mutation, field: `${present}${field.slice(name.length)}` }]
    // What a former name still has would be taken for the value.
    return mutation.op === 'remove' && field === present
      ? [mutation, { op: 'remove', field: name }]
      : [mutation]
  })
}

/** For a removed document that is restored: values that it has under a former name of a field. */
export function formerValues(rules: readonly FieldRule[], document: JsonObject): readonly Mutation[] {
  return rules.flatMap(({ name, formerNames = [] }) =>
    formerNames.flatMap((former): readonly Mutation[] => {
      if (rules.some((rule) => rule.name === former && !isSecondName(rule))) return []
      const value = valueAt(document, parseFieldPath(former))
      if (value === undefined) return []
      const isMissing = isEmptyValue(valueAt(document, parseFieldPath(name)))
      return [
        ...(isMissing ? [{ op: 'set', field: name, value } as const] : []),
        { op: 'remove', field: former },
      ]
    }),
  )
}
