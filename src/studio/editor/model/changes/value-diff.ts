/** Where two JSON values differ: one line for each part that has another value, also deep inside objects and lists. */

import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../../../../shared/json.ts'
import { modelTexts } from '../../../texts/model.ts'

export interface ValueLine {
  /** Keys of objects, and names of items of lists. */
  readonly path: readonly string[]
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
}

type Value = JsonValue | undefined

export function valueLines(before: Value, after: Value, path: readonly string[] = []): ValueLine[] {
  if (sameJson(before, after)) return []
  if (isJsonObject(before) && isJsonObject(after)) return partsOf(before, after, path)
  if (Array.isArray(before) && Array.isArray(after)) {
    const [a, b] = [namedItems(before), namedItems(after)]
    if (a && b) return itemLines(a, b, path)
  }
  return [{ path, before, after }]
}

function partsOf(before: JsonObject, after: JsonObject, path: readonly string[]): ValueLine[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => valueLines(own(before, key), own(after, key), [...path, key]))
}

function own(object: JsonObject, key: string): Value {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

type Items = ReadonlyMap<string, JsonValue>

function itemLines(before: Items, after: Items, path: readonly string[]): ValueLine[] {
  const names = new Set([...before.keys(), ...after.keys()])
  const lines = [...names].flatMap((name) => valueLines(before.get(name), after.get(name), [...path, name]))
  const kept = (items: Items, others: Items) => [...items.keys()].filter((name) => others.has(name))
  const [a, b] = [kept(before, after), kept(after, before)]
  return sameJson(a, b) ? lines : [...lines, { path: [...path, modelTexts.order], before: a, after: b }]
}

const NAMES = ['name', 'field', 'id', 'key', 'as'] as const

/** The items of a list by their names; undefined where one has none, two have the same, or all are plain texts. */
function namedItems(list: readonly JsonValue[]): Items | undefined {
  const items = new Map<string, JsonValue>()
  for (const item of list) {
    const name = nameOfItem(item)
    if (name === undefined || items.has(name)) return undefined
    items.set(name, item)
  }
  return list.every((item) => typeof item === 'string') ? undefined : items
}

function nameOfItem(item: JsonValue): string | undefined {
  if (typeof item === 'string') return item
  if (!isJsonObject(item)) return undefined
  const name = NAMES.map((key) => item[key]).find((value) => typeof value === 'string')
  return typeof name === 'string' ? name : undefined
}

/** A value as a person reads it, in full. Two values may read alike: {@link exactText} tells them apart. */
export function valueText(value: JsonValue): string {
  if (typeof value === 'string') return `“${value}”`
  return Array.isArray(value) ? value.map(itemText).join(', ') : JSON.stringify(value)
}

export function exactText(value: JsonValue): string {
  return JSON.stringify(value)
}

/** A name, or a field of a schema: `title (text, required, max_length 80)`. */
function itemText(item: JsonValue): string {
  if (typeof item === 'string') return item
  if (!isJsonObject(item) || typeof item.name !== 'string') return JSON.stringify(item)
  const { name, ...rest } = item
  const said = Object.entries(rest).map(([key, value]) => {
    if (key === 'type' && typeof value === 'string') return value
    return value === true ? key : `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`
  })
  return said.length === 0 ? name : `${name} (${said.join(', ')})`
}
