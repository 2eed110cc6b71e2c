/**
 * JSON for files that people compare and merge: one way to write a value, small objects on one line, and each part of what is opened
 * on lines of its own, so that a change of one part changes its lines only.
 */
import { atOnce, type Steps } from '../cooperative.ts'
import { isJsonObject, type JsonValue } from '../json.ts'

/** Of a line, with its indent and name. */
const WIDTH = 110

/** `opened`: levels of which each part has its own lines, however small it is. Ends with a line break. */
export function canonicalJson(value: JsonValue, opened: number): string {
  return atOnce(canonicalSteps(value, opened))
}

/** Parts between two steps: 0.1 ms. */
const STEP = 256

/** The same in steps. */
export function* canonicalSteps(value: JsonValue, opened: number): Steps<string> {
  return `${yield* written(value, '', opened, 0)}\n`
}

function* written(value: JsonValue, indent: string, opened: number, before: number): Steps<string> {
  if (isEmptyOrPlain(value)) return JSON.stringify(value)
  if (opened <= 0) {
    // One more for the comma.
    const line = lineWithin(value, WIDTH - indent.length - before)
    if (line !== undefined) return line
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const deeper = `${indent}  `
  const lines: string[] = []
  for (const [name, part] of partsOf(value)) {
    const head = name === undefined ? '' : `${JSON.stringify(name)}: `
    const text = isEmptyOrPlain(part)
      ? JSON.stringify(part)
      : yield* written(part, deeper, opened - 1, head.length)
    lines.push(`${deeper}${head}${text}`)
    if (lines.length % STEP === 0) yield
  }
  yield
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function partsOf(value: JsonValue): readonly (readonly [string | undefined, JsonValue])[] {
  if (Array.isArray(value)) return value.map((part: JsonValue) => [undefined, part] as const)
  return isJsonObject(value) ? Object.entries(value) : []
}

function isEmptyOrPlain(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0
  return !isJsonObject(value) || Object.keys(value).length === 0
}

/** In one line that is shorter than that, else undefined. It looks no further then: of each level of a deep value, all of it would be written. */
function lineWithin(value: JsonValue, room: number): string | undefined {
  if (typeof value === 'string' && value.length + 2 >= room) return undefined
  if (isEmptyOrPlain(value)) return within(JSON.stringify(value), room)
  // A part takes a character, and a comma and a space before the next one.
  if (Array.isArray(value) && 3 * value.length >= room) return undefined
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }']
  let line = open
  for (const [name, part] of partsOf(value)) {
    if (line !== open) line += ', '
    if (name !== undefined) line += `${JSON.stringify(name)}: `
    const text = lineWithin(part, room - line.length)
    if (text === undefined) return undefined
    line += text
  }
  return within(line + close, room)
}

function within(line: string, room: number): string | undefined {
  return line.length < room ? line : undefined
}
