/**
 * What a test expects of a value. Of an object only the fields that are named count; a list has as many items, in order; a text that begins
 * with `=` is a condition over `value`; `{ "contains": [ … ] }` says what is among the items of a list, or in a text.
 */
import { cellProblem, compileCell } from '../../expressions/functions/cell-expression.ts'
import { isJsonObject, type JsonValue, sameJson } from '../../shared/json.ts'

/** Characters of a value in a message. */
const LONGEST_SHOWN = 200
/** Differences that are told of one expectation. */
const MAX_REPORTED = 20

/** One line each: `body.items.0.name: expected "a", got "b"`. `now`: milliseconds since 1970. */
export function differences(
  expected: JsonValue,
  actual: JsonValue | undefined,
  path: string,
  now: number,
): readonly string[] {
  const found: string[] = []
  compare(expected, actual, path, { now, found })
  return found.length <= MAX_REPORTED
    ? found
    : [...found.slice(0, MAX_REPORTED), `${found.length - MAX_REPORTED} more differences`]
}

interface Comparing {
  readonly now: number
  readonly found: string[]
}

function compare(expected: JsonValue, actual: JsonValue | undefined, path: string, to: Comparing): void {
  const requested = containedIn(expected)
  if (typeof expected === 'string' && expected.startsWith('=')) condition(expected.slice(1), actual, path, to)
  else if (requested !== undefined) contains(requested, actual, path, to)
  else if (Array.isArray(expected) && Array.isArray(actual)) items(expected, actual, path, to)
  else if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const [name, value] of Object.entries(expected))
      compare(value, actual[name], path === '' ? name : `${path}.${name}`, to)
  } else if (actual === undefined ? expected !== null : !sameJson(expected, actual))
    to.found.push(`${path}: expected ${shown(expected)}, got ${shown(actual)}`)
}

function items(
  expected: readonly JsonValue[],
  actual: readonly JsonValue[],
  path: string,
  to: Comparing,
): void {
  if (expected.length !== actual.length)
    to.found.push(`${path}: expected ${expected.length} items, got ${actual.length}: ${shown([...actual])}`)
  else for (const [at, item] of expected.entries()) compare(item, actual[at], `${path}.${at}`, to)
}

function condition(
  text: string,
  actual: JsonValue | undefined,
  path: string,
  { now, found }: Comparing,
): void {
  const problem = cellProblem(text)
  if (problem !== undefined) {
    found.push(`${path}: the condition =${text} cannot be read: ${problem}`)
    return
  }
  const context = {
    now: () => now,
    random: (bytes: number) => new Uint8Array(bytes),
    timeZone: 'UTC',
    locale: 'en-US',
    spend: () => undefined,
  }
  try {
    const result = compileCell(text, []).evaluate({ doc: {}, value: actual, context })
    if (result !== true) found.push(`${path}: =${text} does not hold for ${shown(actual)}`)
  } catch (error) {
    found.push(
      `${path}: =${text} failed for ${shown(actual)}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function containedIn(expected: JsonValue): readonly JsonValue[] | undefined {
  if (!isJsonObject(expected)) return undefined
  const { contains, ...others } = expected
  return Array.isArray(contains) && Object.keys(others).length === 0 ? contains : undefined
}

function contains(
  requested: readonly JsonValue[],
  actual: JsonValue | undefined,
  path: string,
  to: Comparing,
): void {
  for (const one of requested) {
    const isThere =
      typeof actual === 'string'
        ? typeof one === 'string' && actual.includes(one)
        : Array.isArray(actual) && actual.some((item) => differences(one, item, path, to.now).length === 0)
    if (!isThere) to.found.push(`${path}: expected ${shown(one)} in ${shown(actual)}`)
  }
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}
