/**
 * Searches by what a field says of its values: an instant is found in whatever zone and with whatever digits it is asked for, and a text without the
 * difference of case and accents where the field ignores them.
 */
import type { FieldRule } from '../../shared/field-rule.ts'
import { instantOf } from '../../shared/fields/value-forms.ts'
import { foldedQuery } from '../../shared/folded-query.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Bounds, Query, Scalar } from '../../shared/query.ts'
import { writePlan } from './write-plan.ts'

export type RulesIn = (storage: string) => MaybePromise<{ readonly rules: readonly FieldRule[] }>

/** Whether queries by these fields may ask for other values than are stored. */
export function asksForOthers(rules: readonly FieldRule[]): boolean {
  return rules.some(({ type, ignores }) => type === 'instant' || ignores !== undefined)
}

/** The query for stored values; the one that was given where it asks for no others. */
export function askedQuery(storage: string, query: Query, rulesIn: RulesIn): MaybePromise<Query> {
  if (query.kind === 'all') return query
  return andThen(rulesIn(storage), ({ rules }) => {
    const { instants, foldings } = writePlan(rules)
    return asked(foldings.size === 0 ? query : foldedQuery(query, foldings), instants, rulesIn)
  })
}

function asked(query: Query, instants: ReadonlySet<string>, rulesIn: RulesIn): MaybePromise<Query> {
  switch (query.kind) {
    case 'and':
    case 'or':
      return each(query, instants, rulesIn)
    case 'not':
    case 'filter':
      return andThen(asked(query.query, instants, rulesIn), (inner) =>
        inner === query.query ? query : { ...query, query: inner },
      )
    case 'through':
      return andThen(askedQuery(query.storage, query.query, rulesIn), (inner) =>
        inner === query.query ? query : { ...query, query: inner },
      )
    case 'term': {
      const values = instants.has(query.field) ? formsOf(query.value) : [query.value]
      return values.length === 1 ? query : { ...query, kind: 'terms', values }
    }
    case 'terms':
      return instants.has(query.field) ? { ...query, values: query.values.flatMap(formsOf) } : query
    case 'range':
      return instants.has(query.field) ? { ...query, bounds: storedBounds(query.bounds) } : query
    default:
      return query
  }
}

function each(
  query: Extract<Query, { kind: 'and' | 'or' }>,
  instants: ReadonlySet<string>,
  rulesIn: RulesIn,
): MaybePromise<Query> {
  const input = query.queries.map((inner) => asked(inner, instants, rulesIn))
  const whole = (queries: readonly Query[]): Query =>
    queries.every((inner, at) => inner === query.queries[at]) ? query : { ...query, queries }
  const known = input.flatMap((inner) => (isPromise(inner) ? [] : [inner]))
  return known.length === input.length ? whole(known) : Promise.all(input).then(whole)
}

/** Documents from before the field was one of instants may hold what is asked for as it is written. */
function formsOf(value: Scalar): readonly Scalar[] {
  const stored = storedInstant(value)
  return stored === value ? [value] : [stored, value]
}

function storedBounds(bounds: Bounds): Bounds {
  return Object.fromEntries(Object.entries(bounds).map(([name, bound]) => [name, storedInstant(bound)]))
}

/** Days and other texts stay as they are. */
function storedInstant<T extends Scalar>(value: T): T | string {
  const instant = instantOf(value)
  return instant === undefined ? value : new Date(instant).toISOString()
}
