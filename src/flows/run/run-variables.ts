import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { StoredVariables } from '../compile/frame.ts'
import { sizeOfValue, TooLarge } from '../values/value-size.ts'

/** Of all variables of one run. A flow over any number of documents would otherwise keep all of them in memory. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 16 * 1024 * 1024
/** Items of one list, as many as `each` and the functions of expressions take. */
const MOST_ITEMS = 10_000

interface Size {
  readonly values: number
  readonly characters: number
}

interface StoredVariable {
  value: JsonValue
  size: Size
  /** The list was made here and read by no block, so that it may grow in place. */
  own: JsonValue[] | undefined
}

const nothing: Size = { values: 0, characters: 0 }

/** Values by name that last as long as a run. `stored`: of a run that has waited. */
export function runVariables(stored: JsonObject = {}): StoredVariables {
  const kept = new Map<string, StoredVariable>()
  let total = nothing

  /** What is wrong with so much in place of `before`; undefined: it is noted. */
  function allowed(before: Size, after: Size): string | undefined {
    const values = total.values - before.values + after.values
    const characters = total.characters - before.characters + after.characters
    if (values > MOST_VALUES)
      return `makes the variables of the run hold more than ${count(MOST_VALUES)} values`
    if (characters > MOST_CHARACTERS)
      return `makes the variables of the run hold more than ${count(MOST_CHARACTERS)} characters`
    total = { values, characters }
    return undefined
  }

  const variables: StoredVariables = {
    get size() {
      return kept.size
    },
    all: () => Object.fromEntries([...kept].map(([name, { value }]) => [name, value])),
    get(name) {
      const variable = kept.get(name)
      // The list now belongs to the block that reads it too, and values of a run never change.
      if (variable) variable.own = undefined
      return variable?.value
    },

    set(name, value) {
      const before = kept.get(name)?.size ?? nothing
      const size = value === undefined ? nothing : measured(value)
      const problem = typeof size === 'string' ? size : allowed(before, size)
      if (problem !== undefined || typeof size === 'string') return problem
      if (value === undefined) kept.delete(name)
      else kept.set(name, { value, size, own: undefined })
      return undefined
    },

    append(name, item) {
      const variable = kept.get(name)
      if (variable && !Array.isArray(variable.value)) return 'cannot be appended: the variable holds no list'
      const list = variable?.own ?? (Array.isArray(variable?.value) ? [...variable.value] : [])
      if (list.length >= MOST_ITEMS) return `makes the list longer than ${count(MOST_ITEMS)} items`
      const more = measured(item)
      if (typeof more === 'string') return more
      const before = variable?.size ?? nothing
      const size = {
        values: before.values + more.values,
        characters: before.characters + more.characters,
      }
      const problem = allowed(before, size)
      if (problem !== undefined) return problem
      list.push(item)
      kept.set(name, { value: list, size, own: list })
      return undefined
    },
  }
  for (const [name, value] of Object.entries(stored)) variables.set(name, value)
  return variables
}

function measured(value: JsonValue): Size | string {
  try {
    return sizeOfValue(value)
  } catch (error) {
    if (error instanceof TooLarge) return error.message
    throw error
  }
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
