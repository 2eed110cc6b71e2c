/** Documents without the fields that are hidden from a user. */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { StoredJson } from '../../storage/stored-json.ts'

const wholes = new WeakMap<StoredJson, StoredJson>()

/** The document, or list of documents, without these fields. In lists of objects they are hidden in each object. */
export function visibleOf(stored: StoredJson, hidden: readonly string[]): StoredJson {
  if (hidden.length === 0) return stored
  const paths = hidden.map((name) => name.split('.'))
  const visible = new StoredJson(JSON.stringify(without(stored.value, paths)))
  wholes.set(visible, stored)
  return visible
}

/** The document as it is stored: what is audited of a write is not less for what its author may not see. */
export function wholeOf(stored: StoredJson): StoredJson {
  return wholes.get(stored) ?? stored
}

function without(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => without(item, paths))
  if (!isJsonObject(value)) return value
  const visible = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const own = paths.filter(([first]) => first === name)
    if (own.length === 0) return [[name, one]]
    if (own.some(({ length }) => length === 1)) return []
    const inside = own.map((path) => path.slice(1))
    return [[name, without(one, inside)]]
  })
  return Object.fromEntries(visible)
}
