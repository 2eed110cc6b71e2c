/** Where two values differ, and what is shown of it. What is compared is never cut. */
import { isJsonObject, type JsonObject, type JsonValue, memberOf, sameJson } from './json.ts'

/** One line for each part that has another value, also deep inside objects and lists. */
export interface ValueLine {
  /** Keys of objects, and names of items of lists. */
  readonly path: readonly string[]
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
}

type Value = JsonValue | undefined

/** One by one: who shows the first ones only need not wait for thousands. */
export function* valueLines(before: Value, after: Value, path: readonly string[] = []): Generator<ValueLine> {
  if (sameJson(before, after)) return
  if (isJsonObject(before) && isJsonObject(after)) yield* partsOf(before, after, path)
  else {
    const [a, b] = [namedItems(before), namedItems(after)]
    if (a && b) yield* itemLines(a, b, path)
    else yield { path, before, after }
  }
}

function* partsOf(before: JsonObject, after: JsonObject, path: readonly string[]): Generator<ValueLine> {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    yield* valueLines(memberOf(before, key), memberOf(after, key), [...path, key])
}

type Items = ReadonlyMap<string, JsonValue>

function* itemLines(before: Items, after: Items, path: readonly string[]): Generator<ValueLine> {
  for (const name of new Set([...before.keys(), ...after.keys()]))
    yield* valueLines(before.get(name), after.get(name), [...path, name])
  const common = (items: Items, others: Items) => [...items.keys()].filter((name) => others.has(name))
  const [a, b] = [common(before, after), common(after, before)]
  if (!sameJson(a, b)) yield { path: [...path, 'order'], before: a, after: b }
}

const NAMES = ['name', 'field', 'id', 'key', 'as'] as const

/** The items of a list by their names; undefined where one has none, two have the same, or all are plain texts. */
function namedItems(list: Value): Items | undefined {
  if (!Array.isArray(list)) return undefined
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

export interface ShownText {
  /** Equal in both texts. */
  readonly lead: string
  readonly differs: string
  /** Equal again. */
  readonly tail: string
  readonly isCut: boolean
}

const MOST = 120
/** Characters before the first difference. */
const LEAD = 30

/** A window around the first difference. */
export function shownDifference(before: string, after: string): readonly [ShownText, ShownText] {
  const same = samePrefix(before, after)
  const end = sameSuffix(before, after, same)
  const start = wholeCharacter(before, same > LEAD ? same - LEAD : 0)
  return [window(before, start, same, before.length - end), window(after, start, same, after.length - end)]
}

/** A text that has nothing to be compared with. */
export function shownAlone(text: string): ShownText {
  return window(text, 0, 0, text.length)
}

function window(text: string, start: number, from: number, to: number): ShownText {
  const stop = text.length <= start + MOST ? text.length : wholeCharacter(text, start + MOST)
  const [before, after] = [start > 0 ? '…' : '', stop < text.length ? '…' : '']
  const ends = to >= stop
  return {
    lead: before + visible(text.slice(start, from)),
    differs: visible(text.slice(from, Math.min(to, stop))) + (ends ? after : ''),
    tail: ends ? '' : visible(text.slice(to, stop)) + after,
    isCut: before !== '' || after !== '',
  }
}

function samePrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let same = 0
  while (same < most && a[same] === b[same]) same++
  return Math.min(wholeCharacter(a, same), wholeCharacter(b, same))
}

function sameSuffix(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from
  let same = 0
  while (same < most && a.at(-1 - same) === b.at(-1 - same)) same++
  return isLow(a.charCodeAt(a.length - same)) ? same - 1 : same
}

/** The same place, or the one before it where it would split a character of two units. */
function wholeCharacter(text: string, at: number): number {
  return isLow(text.charCodeAt(at)) ? at - 1 : at
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** With signs in place of what cannot be seen: two texts that differ must look different. */
export function visible(text: string): string {
  return text
    .replace(/\r?\n/g, (end) => (end === '\n' ? '↵ ' : '␍↵ '))
    .replace(/\t/g, '⇥')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0]/gu,
      (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )
}
