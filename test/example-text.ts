/** What stands in angle brackets in the steps of a block's example; `src/blocks/block-example.ts` says what it means. */
import { isGuid } from '../src/shared/guid.ts'
import { isJsonObject, type JsonValue } from '../src/shared/json.ts'

/** What was seen so far, by what the example calls it: `guid:order` → the guid. */
export type Seen = Map<string, JsonValue>

const kinds: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  guid: (value) => typeof value === 'string' && isGuid(value),
  text: (value) => typeof value === 'string' && value !== '',
  number: (value) => typeof value === 'number',
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value),
}

const bracketed = /<([a-z]+(?::[a-z_]+)?)>/g
const whole = /^<([a-z]+(?::[a-z_]+)?)>$/

function known(name: string, seen: Seen): JsonValue {
  const value = seen.get(name)
  if (value === undefined) throw new Error(`No reply before has said what <${name}> is.`)
  return value
}

/** A request's path with what was seen put in. Throws for what no reply has told yet. */
export function filledText(text: string, seen: Seen): string {
  return text.replace(bracketed, (_, name: string) => String(known(name, seen)))
}

/** A request's body with what was seen put in; a text that is nothing else becomes the value itself. */
export function filledIn(value: JsonValue, seen: Seen): JsonValue {
  if (typeof value === 'string') {
    const name = whole.exec(value)?.[1]
    return name === undefined ? filledText(value, seen) : known(name, seen)
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, seen))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filledIn(item, seen)]))
}

/**
 * What a reply would have to be to be as the example says: equal to the reply where it fits, so that comparing the two
 * shows the differences and nothing else. Keeps in `seen` what the reply decides.
 */
export function expectedFrom(said: JsonValue, got: JsonValue | undefined, seen: Seen): JsonValue {
  if (typeof said === 'string') return expectedText(said, got, seen)
  if (Array.isArray(said)) {
    const items: readonly JsonValue[] = Array.isArray(got) ? got : []
    return said.map((item, i) => expectedFrom(item, items[i], seen))
  }
  if (!isJsonObject(said)) return said
  const other = isJsonObject(got) ? got : {}
  const expected = Object.entries(said).map(([key, item]): [string, JsonValue] => {
    const inner = expectedFrom(item, other[key], seen)
    const envelope = other[key]
    // Of it the example shows what it is about; the rest is as it is.
    if (key === '_meta' && isJsonObject(envelope) && isJsonObject(inner))
      return [key, { ...envelope, ...inner }]
    return [key, inner]
  })
  return Object.fromEntries(expected)
}

function expectedText(said: string, got: JsonValue | undefined, seen: Seen): JsonValue {
  const name = whole.exec(said)?.[1]
  if (name === undefined || seen.has(name)) return filledIn(said, seen)
  const fits = kinds[name.replace(/:.*/, '')]
  if (!fits) throw new Error(`An example cannot say ${said}: only ${Object.keys(kinds).join(', ')}.`)
  if (got === undefined || !fits(got)) return said
  if (name.includes(':')) seen.set(name, got)
  return got
}
