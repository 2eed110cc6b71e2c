import { isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { mostCharacters, mostElements } from '../language/compile/part-work.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'

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

/**
 * Takes from the budget before a function goes through a text. `each`: for a thousand characters, about one for 0.1 µs. Every
 * text of a call costs one for a thousand already, which is enough for what Node searches or copies as a whole.
 */
export function spendOnText(context: FunctionContext, text: string, each: number): void {
  const cost = (text.length * each) / 1_000
  context.spend(Math.floor(cost), cost * WORST)
}

/** What the worst text takes, by what most take: other characters than ASCII, or parts that are all replaced. */
const WORST = 1.5

/** A function of dates takes 10 to 25 µs where clocks of a zone are asked, as long as some hundred elements of a list. */
export function spendOnDate(context: FunctionContext): void {
  context.spend(20, WORK_OF_DATE)
}

const WORK_OF_DATE = 80

/** Names and formats of a locale are kept for some; making them takes 0.1 to 0.8 ms. */
export function spendOnFormat(context: FunctionContext): void {
  context.spend(2_000, 8_000)
}

/** Takes the elements of a list from the budget before they are looked at; refuses one that is too long. */
export function spendOn(context: FunctionContext, parameter: string, list: readonly unknown[]): void {
  if (list.length > mostElements)
    throw new ArgumentError(parameter, `has more than ${written(mostElements)} elements`)
  context.spend(list.length)
}

/** Before numbers are added exactly: 10,000 with many digits take 9 ms, with large and small exponents 19. */
export function spendOnSum(context: FunctionContext, numbers: readonly number[]): void {
  context.spend(0, numbers.length * WORK_OF_SUMMED)
}

const WORK_OF_SUMMED = 20

/** JSON text. Values share parts, so that a small one may be endless as text: it is measured first. */
export function boundedJson(
  context: FunctionContext,
  parameter: string,
  value: JsonValue,
  indent?: number,
): string {
  // A value takes at least one character and one before it, so that more values are more characters than allowed.
  if (isLargerThan(value, mostCharacters / 2, mostCharacters))
    checkLength(parameter, Number.POSITIVE_INFINITY)
  const text = JSON.stringify(value, undefined, indent)
  spendOnText(context, text, 200)
  return boundedText(parameter, text)
}

/** Work of listing one field of an object of many. */
const WORK_OF_FIELD = 2

/** Of a function that needs the names of the fields, whose number JavaScript knows only with them: paid afterwards. */
export function spendOnFields(context: FunctionContext, object: JsonObject): void {
  context.spend(0, Object.keys(object).length * WORK_OF_FIELD)
}
