import type { ValidationRule } from '../../../../shared/api/blueprints/validation-rules.ts'
import { wordsOfField } from '../../../../shared/fields/field-names.ts'
import type { JsonValue } from '../../../../shared/json.ts'
import { rulesTexts } from '../../../texts/data.ts'

export interface RuleParameter {
  readonly name: string
  readonly label: string
  readonly help: string
  readonly kind: 'text' | 'number' | 'choice' | 'names'
  readonly options?: readonly string[]
  readonly required?: true
}

interface RuleKind {
  readonly type: string
  readonly title: string
  readonly parameters: readonly RuleParameter[]
}

/** The kinds of rules that the server knows, as a form needs them. */
export const ruleKinds: readonly RuleKind[] = [
  {
    type: 'required_scope',
    title: rulesTexts.neededScope,
    parameters: [
      {
        name: 'methods',
        label: rulesTexts.methods,
        help: rulesTexts.methodsHelp,
        kind: 'names',
        options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      },
      { name: 'scope', label: rulesTexts.scope, help: rulesTexts.scopeHelp, kind: 'text' },
    ],
  },
  {
    type: 'forbidden_block',
    title: rulesTexts.forbiddenBlock,
    parameters: [
      {
        name: 'type',
        label: rulesTexts.block,
        help: rulesTexts.blockHelp,
        kind: 'text',
        required: true,
      },
    ],
  },
  {
    type: 'naming',
    title: rulesTexts.namePattern,
    parameters: [
      {
        name: 'target',
        label: rulesTexts.namesOf,
        help: rulesTexts.namesOfHelp,
        kind: 'choice',
        options: ['blueprint', 'uri', 'storage', 'block_title'],
        required: true,
      },
      {
        name: 'pattern',
        label: rulesTexts.pattern,
        help: rulesTexts.aRegularExpression,
        kind: 'text',
        required: true,
      },
    ],
  },
  {
    type: 'max_blocks',
    title: rulesTexts.mostBlocks,
    parameters: [
      { name: 'max', label: rulesTexts.most, help: rulesTexts.mostHelp, kind: 'number', required: true },
    ],
  },
]

export function kindOfRule(type: string): RuleKind | undefined {
  return ruleKinds.find((kind) => kind.type === type)
}

/** `Names of: uri · Pattern: ^[a-z/]*$`. */
export function parametersInWords({ rule_type, parameters }: ValidationRule): string {
  const labels = new Map(kindOfRule(rule_type)?.parameters.map(({ name, label }) => [name, label]))
  return Object.entries(parameters)
    .map(([name, value]) => `${labels.get(name) ?? wordsOfField(name)}: ${inWords(value)}`)
    .join(' · ')
}

function inWords(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (value === 'block_title') return rulesTexts.titlesOfBlocks
  return typeof value === 'string' ? value : JSON.stringify(value)
}
