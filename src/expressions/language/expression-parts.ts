import type { Argument, Entry, Spread } from './expression.ts'

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
