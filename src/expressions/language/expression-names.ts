import {
  type Argument,
  type Entry,
  type Expression,
  type NameRead,
  type ParsedExpression,
  partsOf,
  type Spread,
} from './expression.ts'

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
