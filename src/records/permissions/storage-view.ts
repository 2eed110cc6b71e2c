/** What the rules of one storage come to for one user: evaluated once a session, because fields and `see` do not depend on a document. */

import { QuoinError } from '../../shared/errors.ts'
import { overlap } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { type Lookup, matches } from '../../storage/search/evaluate-query.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { PermissionName } from '../fields/field-rules.ts'
import type { CompiledRules } from './compiled-rules.ts'
import type { RuleFrame, RuleTest } from './rule-expression.ts'

export type WriteName = Exclude<PermissionName, 'see'>

export interface StorageView {
  readonly storage: string
  /** Undefined: every document. */
  readonly see: Query | undefined
  /** Names of fields that the user does not see, and of those that the user may not set. */
  readonly hidden: readonly string[]
  readonly unsettable: readonly string[]
  /** Fields that free text may look into. */
  readonly texts: readonly string[]
  /** Whether `see` leads to other documents, and whether any rule does: then a verdict needs `lookup`. */
  readonly leads: { readonly see: boolean; readonly any: boolean }
  sees(document: StoredJson, lookup?: Lookup): boolean
  allows(name: WriteName, document: StoredJson, lookup?: Lookup): boolean
  /** Whether there may be a document that the rule allows: false where it refuses whatever a document says. */
  mayAllow(name: WriteName): boolean
}

export interface Evaluation {
  readonly user: JsonObject | undefined
  readonly context: () => RuleFrame['context']
  /** Hears of a rule that could not be evaluated, which then allows nothing. */
  failed(storage: string, rule: string, error: unknown): void
}

const noDocument: JsonObject = {}
const nothing: Query = { kind: 'or', queries: [] }

export function storageView(
  storage: string,
  { see, tests, fields, texts, leads }: CompiledRules,
  { user, context, failed }: Evaluation,
): StorageView {
  const frame = (doc: JsonObject, lookup?: Lookup): RuleFrame => ({ doc, user, context: context(), lookup })
  function evaluated<T>(rule: string, work: () => T, denied: T): T {
    try {
      return work()
    } catch (error) {
      failed(storage, rule, error)
      return denied
    }
  }
  const lacks = (rule: string, test: RuleTest | undefined) =>
    test !== undefined && !evaluated(rule, () => test(frame(noDocument)), false)
  const query = see && evaluated('see', () => see(frame(noDocument)), nothing)
  const hidden = fields.flatMap(({ name, visible }) =>
    lacks(`visible_to of ${name}`, visible) ? [name] : [],
  )
  return {
    storage,
    see: query?.kind === 'all' ? undefined : query,
    hidden,
    unsettable: fields.flatMap(({ name, settable }) =>
      lacks(`settable_by of ${name}`, settable) ? [name] : [],
    ),
    texts: texts.filter((name) => !hidden.some((one) => overlap(one, name))),
    leads: {
      see: query !== undefined && otherStorages(query).length > 0,
      any: leads || (query !== undefined && otherStorages(query).length > 0),
    },
    sees: (document, lookup) => query === undefined || matches(query, documentOf(document), lookup),
    allows(name, document, lookup) {
      const rule = tests[name]
      return (
        rule === undefined || evaluated(name, () => rule.test(frame(documentOf(document), lookup)), false)
      )
    },
    mayAllow(name) {
      const rule = tests[name]
      return rule === undefined || evaluated(name, () => rule.isPossible(frame(noDocument)), false)
    },
  }
}

/** Throws INVALID_QUERY for a field that the user does not see: also an answer that is not sent would tell its value. */
export function checkVisible({ storage, hidden }: StorageView, field: string): void {
  if (!hidden.some((name) => overlap(name, field))) return
  throw new QuoinError(
    'INVALID_QUERY',
    `The field ${field} of the storage ${storage} is hidden from you. It cannot be searched, sorted or grouped by.`,
  )
}

/** What was refused, for users who know no rules: their administrator finds the permission by its name. */
const refusedActions: Readonly<Record<string, string>> = {
  create: 'create this document',
  change: 'change this document in this way',
  remove: 'remove, restore or delete this document',
}

export function deniedBy(storage: string, rule: string): QuoinError {
  return new QuoinError(
    'DENIED_BY_RULE',
    `You may not ${refusedActions[rule] ?? `${rule} this document`}: the permission ${rule} of the storage ${storage} refuses it.`,
  )
}
