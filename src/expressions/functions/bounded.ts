import type { JsonValue } from '../../shared/json.ts'
import { isLargerThan } from '../../shared/json-size.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { mostCharacters, mostElements } from '../language/value-bounds.ts'

const written = (count: number) => count.toLocaleString('en-US')

/** Refuses a text before it is made. */
export function checkLength(parameter: string, characters: number): void {
  if (characters > mostCharacters)
    throw new ArgumentError(parameter, `gives a text of more than ${written(mostCharacters)} characters`)
}

/** For texts that are at most a few times as long as what they are made of: refused after they were made. */
export function boundedText(parameter: string, text: string): string {
  checkLength(parameter, text.length)
  return text
}

/** Refuses a list before it is made, and takes its elements from the budget. */
export function spendOnNew(context: FunctionContext, parameter: string, elements: number): void {
  if (elements > mostElements)
    throw new ArgumentError(parameter, `gives a list of more than ${written(mostElements)} elements`)
  context.spend(elements)
}

/** Takes the elements of a list from the budget before they are looked at; refuses one that is too long. */
export function spendOn(context: FunctionContext, parameter: string, list: readonly unknown[]): void {
  if (list.length > mostElements)
    throw new ArgumentError(parameter, `has more than ${written(mostElements)} elements`)
  context.spend(list.length)
}

/** JSON text. Values share parts, so that a small one may be endless as text: it is measured first. */
export function boundedJson(parameter: string, value: JsonValue, indent?: number): string {
  if (isLargerThan(value, mostCharacters, mostCharacters)) checkLength(parameter, Number.POSITIVE_INFINITY)
  return boundedText(parameter, JSON.stringify(value, undefined, indent))
}
