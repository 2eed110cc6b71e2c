import { rulesTexts } from '../../../texts/rules.ts'

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
