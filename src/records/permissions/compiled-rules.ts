/** The rules of a storage and of its fields as functions, compiled once for each change of them. */
import { fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { isPromise } from '../../shared/maybe-promise.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import { askedQuery } from '../fields/asked-values.ts'
import { unusedFormerNames } from '../fields/field-migration.ts'
import type { PermissionName, StorageRules } from '../fields/field-rules.ts'
import { type RuleScope, scopeOf } from './reference-query.ts'
import {
  compilePossibleRule,
  compileQueryRule,
  compileTestRule,
  type RuleFrame,
  type RuleQuery,
  type RuleTest,
  ruleProblem,
  sampledRule,
  usesOtherDocuments,
} from './rule-expression.ts'

export interface FieldPermission {
  readonly name: string
  readonly visible?: RuleTest
  readonly settable?: RuleTest
}

export interface WriteRule {
  readonly test: RuleTest
  /** Whether it allows the user any document. */
  readonly isPossible: RuleTest
}

export interface CompiledRules {
  readonly see: RuleQuery | undefined
  readonly tests: Readonly<Partial<Record<Exclude<PermissionName, 'see'>, WriteRule>>>
  /** The storages that `see` leads to, and whether any rule leads to another document. */
  readonly sees: readonly string[]
  readonly leads: boolean
  /** Of the fields that have one, also under former names, which removed documents and the history have. */
  readonly fields: readonly FieldPermission[]
  /** Listed fields that hold text: where free text looks when a field of the storage is hidden. */
  readonly texts: readonly string[]
}

const compiled = new WeakMap<StorageRules, CompiledRules | undefined>()

/** Undefined where nothing says who may do what. */
export function compiledRules(storage: string, storageRules: StorageRules): CompiledRules | undefined {
  if (compiled.has(storageRules)) return compiled.get(storageRules)
  const { rules, references, fieldsOf = () => rules } = storageRules
  const scope: RuleScope = {
    ...scopeOf(storage, references),
    asked(query) {
      const asked = askedQuery(storage, query, (name) => ({ rules: fieldsOf(name) }))
      if (isPromise(asked))
        throw new TypeError('The fields of all storages are known where rules are compiled.')
      return asked
    },
  }
  const made = compile(storageRules, scope)
  compiled.set(storageRules, made)
  return made
}

function compile({ rules, permissions = {} }: StorageRules, scope: RuleScope): CompiledRules | undefined {
  const { see, create, change, remove } = permissions
  const fields = rules.flatMap(({ visibleTo, settableBy, ...rule }) => {
    if (visibleTo === undefined && settableBy === undefined) return []
    const tests = {
      ...(visibleTo !== undefined && { visible: fieldTest(visibleTo, scope) }),
      ...(settableBy !== undefined && { settable: fieldTest(settableBy, scope) }),
    }
    return [rule.name, ...unusedFormerNames(rule, rules)].map((name) => ({ name, ...tests }))
  })
  if (Object.keys(permissions).length === 0 && fields.length === 0) return undefined
  const isRead = see !== undefined && !ruleProblem(see, 'see', scope)
  return {
    see: see === undefined ? undefined : isRead ? compileQueryRule(see, scope) : unreadable,
    sees: isRead ? [...new Set(otherStorages(sampledRule(see, scope)))] : [],
    leads: [see, create, change, remove].some(
      (text) => text !== undefined && usesOtherDocuments(text, scope),
    ),
    tests: {
      ...(create !== undefined && { create: writeRule(create, scope) }),
      ...(change !== undefined && { change: writeRule(change, scope) }),
      ...(remove !== undefined && { remove: writeRule(remove, scope) }),
    },
    fields,
    texts: rules.flatMap(({ name, type }) => (fieldTypeEntries[type].value === 'text' ? [name] : [])),
  }
}

function fieldTest(text: string, scope: RuleScope): RuleTest {
  return ruleProblem(text, 'field', scope) ? unreadable : compileTestRule(text, scope)
}

function writeRule(text: string, scope: RuleScope): WriteRule {
  return ruleProblem(text, 'write', scope)
    ? { test: unreadable, isPossible: () => false }
    : { test: compileTestRule(text, scope), isPossible: compilePossibleRule(text, scope) }
}

/** A rule that a newer version stored is broken by everyone, and not by no one. */
function unreadable(_frame: RuleFrame): never {
  throw new TypeError('The rule cannot be read by this version.')
}
