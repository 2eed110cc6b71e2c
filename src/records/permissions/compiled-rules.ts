/** The rules of a storage and of its fields as functions, compiled once for each change of them. */
import { fieldTypeEntries } from '../../shared/fields/field-type.ts'
import type { KeptRules, PermissionName } from '../fields/field-rules.ts'
import {
  compileQueryRule,
  compileTestRule,
  type RuleFrame,
  type RuleQuery,
  type RuleTest,
  ruleProblem,
} from './rule-expression.ts'

export interface FieldPermission {
  readonly name: string
  readonly visible?: RuleTest
  readonly settable?: RuleTest
}

export interface CompiledRules {
  readonly see: RuleQuery | undefined
  readonly tests: Readonly<Partial<Record<Exclude<PermissionName, 'see'>, RuleTest>>>
  /** Of the fields that have one. */
  readonly fields: readonly FieldPermission[]
  /** Listed fields that hold text: where free text looks when a field of the storage is hidden. */
  readonly texts: readonly string[]
}

const compiled = new WeakMap<KeptRules, CompiledRules | undefined>()

/** Undefined where nothing says who may do what. */
export function compiledRules(kept: KeptRules): CompiledRules | undefined {
  if (compiled.has(kept)) return compiled.get(kept)
  const made = compile(kept)
  compiled.set(kept, made)
  return made
}

function compile({ rules, permissions = {} }: KeptRules): CompiledRules | undefined {
  const { see, create, change, remove } = permissions
  const fields = rules.flatMap(({ name, visibleTo, settableBy }) =>
    visibleTo === undefined && settableBy === undefined
      ? []
      : [
          {
            name,
            ...(visibleTo !== undefined && { visible: test(visibleTo, 'field') }),
            ...(settableBy !== undefined && { settable: test(settableBy, 'field') }),
          },
        ],
  )
  if (Object.keys(permissions).length === 0 && fields.length === 0) return undefined
  return {
    see: see === undefined ? undefined : ruleProblem(see, 'see') ? unreadable : compileQueryRule(see),
    tests: {
      ...(create !== undefined && { create: test(create, 'write') }),
      ...(change !== undefined && { change: test(change, 'write') }),
      ...(remove !== undefined && { remove: test(remove, 'write') }),
    },
    fields,
    texts: rules.flatMap(({ name, type }) => (fieldTypeEntries[type].value === 'text' ? [name] : [])),
  }
}

function test(text: string, kind: 'write' | 'field'): RuleTest {
  return ruleProblem(text, kind) ? unreadable : compileTestRule(text)
}

/** A rule that a newer version stored is broken by everyone, and not by no one. */
function unreadable(_frame: RuleFrame): never {
  throw new TypeError('The rule cannot be read by this version.')
}
