/**
 * The tree of an expression. Positions are zero-based columns of its text, `end` behind the last character; parentheses leave
 * no trace. There is nothing else in an expression: what the parser cannot say with these kinds, it refuses.
 */
export type Expression =
  | Literal
  | NameRead
  | ParameterRead
  | Member
  | Index
  | ListLiteral
  | ObjectLiteral
  | Template
  | Unary
  | Binary
  | Logical
  | Choice
  | Call
  | MethodCall
  | Let

export interface Place {
  readonly start: number
  readonly end: number
}

export interface Literal extends Place {
  readonly kind: 'literal'
  readonly value: string | number | boolean | null
}

/** `goods`, or `blocks.goods`, which always means the block. */
export interface NameRead extends Place {
  readonly kind: 'name'
  readonly name: string
  readonly inBlocks: boolean
  /** Of the name alone, without `blocks.`. */
  readonly at: Place
}

/** A parameter of an arrow function that is around it, or a part that `let` has named. */
export interface ParameterRead extends Place {
  readonly kind: 'parameter'
  readonly name: string
  readonly slot: number
}

export interface Member extends Place {
  readonly kind: 'member'
  readonly of: Expression
  readonly key: string
}

export interface Index extends Place {
  readonly kind: 'index'
  readonly of: Expression
  readonly key: Expression
}

export interface Spread extends Place {
  readonly kind: 'spread'
  readonly of: Expression
}

export interface ListLiteral extends Place {
  readonly kind: 'list'
  readonly elements: readonly (Expression | Spread)[]
}

export interface Entry extends Place {
  readonly kind: 'entry'
  readonly key: string
  readonly value: Expression
  /** `{ title }` for `{ title: title }`. */
  readonly shorthand: boolean
}

export interface ObjectLiteral extends Place {
  readonly kind: 'object'
  readonly entries: readonly (Entry | Spread)[]
}

/** One text more than there are values. */
export interface Template extends Place {
  readonly kind: 'template'
  readonly texts: readonly string[]
  readonly values: readonly Expression[]
}

export interface Unary extends Place {
  readonly kind: 'unary'
  readonly operator: '!' | '-'
  readonly of: Expression
}

export type Arithmetic = '+' | '-' | '*' | '/' | '%' | '**'
export type Order = '<' | '<=' | '>' | '>='
/** `===` and `!==` mean the same and are not kept apart. */
export type Equality = '==' | '!='

export interface Binary extends Place {
  readonly kind: 'binary'
  readonly operator: Arithmetic | Order | Equality
  readonly left: Expression
  readonly right: Expression
}

export interface Logical extends Place {
  readonly kind: 'logical'
  readonly operator: '&&' | '||' | '??'
  readonly left: Expression
  readonly right: Expression
}

export interface Choice extends Place {
  readonly kind: 'choice'
  readonly test: Expression
  readonly then: Expression
  readonly otherwise: Expression
}

/** Stands only among the arguments of a call. */
export interface Arrow extends Place {
  readonly kind: 'arrow'
  readonly parameters: readonly { readonly name: string; readonly slot: number }[]
  readonly body: Expression
}

export type Argument = Expression | Arrow

export interface Call extends Place {
  readonly kind: 'call'
  readonly name: string
  /** Of the name alone. */
  readonly at: Place
  readonly arguments: readonly Argument[]
}

export interface MethodCall extends Place {
  readonly kind: 'method'
  readonly of: Expression
  readonly name: string
  readonly at: Place
  readonly arguments: readonly Argument[]
}

/** `let day = startOf(now(), 'day'); day > due`: names parts of the expression that follows. Only at the beginning. */
export interface Let extends Place {
  readonly kind: 'let'
  readonly bindings: readonly Binding[]
  readonly body: Expression
}

export interface Binding {
  readonly name: string
  /** As of a parameter of an arrow function: reads of it are the same. */
  readonly slot: number
  readonly value: Expression
}

export interface ParsedExpression {
  readonly text: string
  readonly root: Expression
  /** How many values of arrow parameters and named parts there can be at a time. */
  readonly slots: number
}

/** The parts that a part directly consists of, in the order of the text. */
export function partsOf(part: Argument | Entry | Spread): readonly (Argument | Entry | Spread)[] {
  switch (part.kind) {
    case 'literal':
    case 'name':
    case 'parameter':
      return []
    case 'member':
    case 'unary':
    case 'spread':
      return [part.of]
    case 'index':
      return [part.of, part.key]
    case 'list':
      return part.elements
    case 'object':
      return part.entries
    case 'entry':
      return [part.value]
    case 'template':
      return part.values
    case 'binary':
    case 'logical':
      return [part.left, part.right]
    case 'choice':
      return [part.test, part.then, part.otherwise]
    case 'arrow':
      return [part.body]
    case 'let':
      return [...part.bindings.map(({ value }) => value), part.body]
    case 'call':
      return part.arguments
    case 'method':
      return [part.of, ...part.arguments]
  }
}

/** One place where an expression reads a name, with the fields that follow it as far as they are written out. */
export interface NameUse {
  readonly name: string
  /** Written `blocks.NAME`: always the block. */
  readonly inBlocks: boolean
  readonly path: readonly string[]
  /** Of the name alone, without `blocks.` and the path. */
  readonly start: number
  readonly end: number
}

/** The free names that an expression reads, in the order of its text. */
export function namesOf(expression: ParsedExpression): readonly NameUse[] {
  return namesIn(expression.root)
}

/** As {@link namesOf}, of a part of an expression. */
export function namesIn(part: Argument | Entry | Spread): readonly NameUse[] {
  const found: NameUse[] = []
  collect(part, found)
  return found
}

function collect(part: Argument | Entry | Spread, found: NameUse[]): void {
  // From the last key of a chain to its first part, into one list: a list for each member was half of its square in copies.
  const keys: string[] = []
  let first = part
  for (let key = staticKey(first); key !== undefined; key = staticKey(first)) {
    if (first.kind !== 'member' && first.kind !== 'index') break
    keys.push(key)
    first = first.of
  }
  if (first.kind === 'name') found.push(useOf(first, keys.reverse()))
  else for (const one of partsOf(first)) collect(one, found)
}

function useOf({ name, inBlocks, at }: NameRead, path: readonly string[]): NameUse {
  return { name, inBlocks, path, start: at.start, end: at.end }
}

/** The name of the field that a part reads, when it is written out. */
function staticKey(part: Argument | Entry | Spread): string | undefined {
  if (part.kind === 'member') return part.key
  if (part.kind !== 'index' || part.key.kind !== 'literal') return undefined
  return typeof part.key.value === 'string' ? part.key.value : undefined
}

/** Whether a value can be worked out before a run: nothing in it depends on names, parameters or functions. */
export function isConstant(part: Expression | Entry | Spread): boolean {
  // A part that is named is written down by each evaluation.
  if (part.kind === 'let') return false
  if (part.kind === 'name' || part.kind === 'parameter' || part.kind === 'call' || part.kind === 'method')
    return false
  return partsOf(part).every((one) => one.kind !== 'arrow' && isConstant(one))
}
