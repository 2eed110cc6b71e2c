import type { MethodDeclaration } from '../function-body.ts'
import type { FunctionDeclaration } from '../function-declaration.ts'
import { checkFunctions } from './checks.ts'
import { conversionFunctions } from './conversion.ts'
import { dateFunctions } from './dates.ts'
import { fieldChangeFunctions } from './field-changes.ts'
import { listMethods } from './list-methods.ts'
import { listFunctions } from './lists.ts'
import { numberMethods } from './number-methods.ts'
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
