import { type Argument, type Entry, type Expression, partsOf, type Spread } from '../expression.ts'
import type { FunctionDeclaration, MethodDeclaration } from '../function-declaration.ts'
import { checkFunctions, numberMethods } from './checks.ts'
import { conversionFunctions } from './conversion.ts'
import { dateFunctions } from './dates.ts'
import { fieldChangeFunctions } from './field-changes.ts'
import { listMethods } from './list-methods.ts'
import { listFunctions } from './lists.ts'
import { numberFunctions } from './numbers.ts'
import { objectFunctions } from './objects.ts'
import { randomAndHashFunctions } from './random-and-hashes.ts'
import { textFunctions } from './text.ts'
import { textMethods } from './text-methods.ts'

/** In the order of the docs page, by title. */
export const functionGroups: Readonly<Record<string, readonly FunctionDeclaration[]>> = {
  Text: textFunctions,
  Numbers: numberFunctions,
  Dates: dateFunctions,
  Lists: listFunctions,
  Objects: objectFunctions,
  Conversion: conversionFunctions,
  Checks: checkFunctions,
  'Random values and hashes': randomAndHashFunctions,
  'Changes of fields': fieldChangeFunctions,
}

export const methodGroups: Readonly<Record<MethodDeclaration['on'], readonly MethodDeclaration[]>> = {
  text: textMethods,
  list: listMethods,
  number: numberMethods,
}

let functions: ReadonlyMap<string, FunctionDeclaration> | undefined

/** Every function by name. Asked for each expression that is compiled. */
export function declaredFunctions(): ReadonlyMap<string, FunctionDeclaration> {
  functions ??= byName(Object.values(functionGroups).flat())
  return functions
}

/** Every method by name, for each kind of value that has some. */
export function declaredMethods(): Readonly<
  Record<MethodDeclaration['on'], ReadonlyMap<string, MethodDeclaration>>
> {
  const { text, list, number } = methodGroups
  return { text: byName(text), list: byName(list), number: byName(number) }
}

function byName<Declared extends { readonly name: string }>(
  declared: readonly Declared[],
): ReadonlyMap<string, Declared> {
  return new Map(declared.map((one) => [one.name, one]))
}

export interface CalledFunctions {
  /** Whether it calls a function or a method at all. */
  readonly calls: boolean
  /** What the functions that it calls look at beside their arguments. */
  readonly varies: ReadonlySet<NonNullable<FunctionDeclaration['varies']>>
  /** Of functions, without methods. */
  readonly names: ReadonlySet<string>
}

export function calledFunctions(root: Expression): CalledFunctions {
  const declared = declaredFunctions()
  const varies = new Set<NonNullable<FunctionDeclaration['varies']>>()
  const names = new Set<string>()
  let calls = false
  const queue: (Argument | Entry | Spread)[] = [root]
  for (let part = queue.pop(); part; part = queue.pop()) {
    queue.push(...partsOf(part))
    if (part.kind === 'method') calls = true
    if (part.kind !== 'call') continue
    calls = true
    names.add(part.name)
    const way = declared.get(part.name)?.varies
    if (way) varies.add(way)
  }
  return { calls, varies, names }
}
