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

/** Every function by name. */
export function declaredFunctions(): ReadonlyMap<string, FunctionDeclaration> {
  return new Map(
    Object.values(functionGroups)
      .flat()
      .map((one) => [one.name, one]),
  )
}

/** Every method of one kind of value by name. */
export function declaredMethods(on: MethodDeclaration['on']): ReadonlyMap<string, MethodDeclaration> {
  return new Map(methodGroups[on].map((one) => [one.name, one]))
}
