/** The kinds of validation rules. Each says what its parameters must be and what in a blueprint breaks it. */

import type { Block } from '../../shared/blueprint.ts'
import type { Problem } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { patternMisfit, patternProblem } from '../../shared/texts/text-pattern.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { drawnBlock } from '../compile/expand-resources.ts'

/** What is deployed. */
export interface Candidate {
  readonly name: string
  readonly blocks: readonly Block[]
  readonly compiled: CompiledBlueprint
}

interface RuleKind {
  /** What is wrong with a parameter, in words that finish "<parameter> …", or undefined. */
  readonly parameters: Readonly<Record<string, (value: JsonValue | undefined) => string | undefined>>
  check(candidate: Candidate, parameters: JsonObject): readonly Problem[]
}

const methods: readonly JsonValue[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const targets = ['blueprint', 'uri', 'storage', 'block_title'] as const

export const ruleKinds = {
  /** Endpoints (of some methods) must not be public, or must require one scope. */
  required_scope: {
    parameters: {
      methods: (value) =>
        value === undefined || (Array.isArray(value) && value.every((item) => methods.includes(item)))
          ? undefined
          : 'must be a list of GET, POST, PUT and DELETE',
      scope: (value) => (value === undefined || isText(value) ? undefined : 'must be the name of a scope'),
    },
    check({ compiled }, parameters) {
      const requested = Array.isArray(parameters.methods) ? parameters.methods : methods
      const { scope } = parameters
      return compiled.endpoints.flatMap(({ block, listening, scopes }): Problem[] => {
        if (listening.method !== 'ANY' && !requested.includes(listening.method)) return []
        const isOpen = scopes.length === 0 || scopes.includes('*public')
        const fits = isText(scope) ? scopes.length > 0 && scopes.every((one) => one === scope) : !isOpen
        const needs = isText(scope) ? `the scope ${scope} and no other` : 'a scope other than *public'
        return fits
          ? []
          : [
              {
                block: drawnBlock(block),
                message: `${listening.method} ${listening.uri} must have ${needs}.`,
              },
            ]
      })
    },
  },

  /** A block that may not be used. */
  forbidden_block: {
    parameters: { type: (value) => (isText(value) ? undefined : 'must be the identifier of a block') },
    check: ({ blocks }, { type }) =>
      blocks
        .filter((block) => block.type === type)
        .map((block) => ({ block: block.guid, message: `The block ${block.type} may not be used here.` })),
  },

  /** Names of blueprints, URIs, storages or blocks must fit a pattern. */
  naming: {
    parameters: {
      target: (value) =>
        targets.some((target) => target === value) ? undefined : `must be one of ${targets.join(', ')}`,
      pattern: (value) => {
        if (!isText(value)) return 'must be an RE2 regular expression'
        const problem = patternProblem(value)
        return problem && `is a pattern that ${problem}`
      },
    },
    check(candidate, { target, pattern }) {
      const spend = patternBudget()
      return namesOf(candidate, target).flatMap(({ name, block }) => {
        const misfit = patternMisfit(String(pattern), name, spend)
        const message = `The ${String(target).replace('_', ' ')} ${JSON.stringify(name)} ${misfit}.`
        return misfit === undefined ? [] : [{ block, message }]
      })
    },
  },

  /** A blueprint that has grown too large to read. */
  max_blocks: {
    parameters: {
      max: (value) =>
        typeof value === 'number' && Number.isInteger(value) && value > 0
          ? undefined
          : 'must be a whole number above 0',
    },
    check: ({ blocks }, { max }) =>
      typeof max === 'number' && blocks.length > max
        ? [{ block: '', message: `The blueprint has ${blocks.length} blocks, and ${max} are allowed.` }]
        : [],
  },
} as const satisfies Record<string, RuleKind>

export function findRuleKind(type: string): RuleKind | undefined {
  const kinds: Readonly<Record<string, RuleKind>> = ruleKinds
  return Object.hasOwn(kinds, type) ? kinds[type] : undefined
}

function namesOf(
  { name, blocks, compiled }: Candidate,
  target: JsonValue | undefined,
): readonly { readonly name: string; readonly block: string }[] {
  switch (target) {
    case 'blueprint':
      return [{ name, block: '' }]
    case 'uri':
      return compiled.endpoints.map(({ block, listening }) => ({
        name: listening.uri,
        block: drawnBlock(block),
      }))
    case 'storage':
      return [...compiled.needs.keys()].map((storage) => ({ name: storage, block: '' }))
    case 'block_title':
      return blocks.map(({ title, guid }) => ({ name: title, block: guid }))
    default:
      return []
  }
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
