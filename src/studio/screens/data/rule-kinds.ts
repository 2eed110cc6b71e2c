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
    title: 'Endpoints need a scope',
    parameters: [
      {
        name: 'methods',
        label: 'Methods',
        help: 'Which endpoints; all if none is chosen.',
        kind: 'names',
        options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      },
      { name: 'scope', label: 'Scope', help: 'If empty: any scope but *public.', kind: 'text' },
    ],
  },
  {
    type: 'forbidden_block',
    title: 'A block must not be used',
    parameters: [
      {
        name: 'type',
        label: 'Block',
        help: 'Its identifier, such as http_request.',
        kind: 'text',
        required: true,
      },
    ],
  },
  {
    type: 'naming',
    title: 'Names follow a pattern',
    parameters: [
      {
        name: 'target',
        label: 'Names of',
        help: 'The names to check.',
        kind: 'choice',
        options: ['blueprint', 'uri', 'storage', 'block_title'],
        required: true,
      },
      { name: 'pattern', label: 'Pattern', help: 'A regular expression.', kind: 'text', required: true },
    ],
  },
  {
    type: 'max_blocks',
    title: 'At most this many blocks',
    parameters: [
      { name: 'max', label: 'Most', help: 'Blocks in one blueprint.', kind: 'number', required: true },
    ],
  },
]

export function kindOfRule(type: string): RuleKind | undefined {
  return ruleKinds.find((kind) => kind.type === type)
}
