import {
  type Argument,
  type Entry,
  type Expression,
  type NameUse,
  namesIn,
  type ParameterRead,
  type ParsedExpression,
  type Place,
  partsOf,
  type Spread,
} from './expression.ts'
import { ExpressionError } from './expression-error.ts'

type Part = Argument | Entry | Spread

/** The error of a value that does not fit, with the names that the operand was read from. */
export function errorAt(message: string, operand: Part, expression: ParsedExpression): ExpressionError {
  return new ExpressionError(message, operand, readFrom(operand, expression.root))
}

/** A parameter of an arrow function has its values from the other arguments of the call. */
function readFrom(operand: Part, root: Expression): readonly NameUse[] {
  const parameters = parametersIn(operand)
  if (parameters.length === 0) return namesIn(operand)
  const uses = new Map(namesIn(operand).map((use) => [use.start, use]))
  const around = sourcesOf(operand, parameters, root)
  const sources = [...around, ...namedIn([...parameters, ...around.flatMap(parametersIn)], root)]
  for (const source of sources) {
    for (const use of namesIn(source)) uses.set(use.start, use)
  }
  return [...uses.values()]
}

/** What `let` has named, and what that reads of what was named before. */
function namedIn(parameters: readonly ParameterRead[], root: Expression): readonly Part[] {
  if (root.kind !== 'let') return []
  const found = new Set<Part>()
  const open = [...parameters]
  for (let read = open.pop(); read; read = open.pop()) {
    const { slot, name } = read
    const value = root.bindings.find((one) => one.slot === slot && one.name === name)?.value
    if (!value || found.has(value)) continue
    found.add(value)
    open.push(...parametersIn(value))
  }
  return [...found]
}

function parametersIn(part: Part): readonly ParameterRead[] {
  return part.kind === 'parameter' ? [part] : partsOf(part).flatMap(parametersIn)
}

/** The arguments beside the arrow functions that are around the operand: their elements arrive as parameters. */
function sourcesOf(operand: Place, parameters: readonly ParameterRead[], root: Expression): readonly Part[] {
  const sources: Part[] = []
  const visit = (part: Part): void => {
    if (part.start > operand.start || part.end < operand.end) return
    for (const one of partsOf(part)) {
      if (one.kind === 'arrow' && one.start <= operand.start && operand.end <= one.end)
        sources.push(...partsOf(part).filter(({ kind }) => kind !== 'arrow'))
      visit(one)
    }
  }
  if (parameters.length > 0) visit(root)
  return sources
}
