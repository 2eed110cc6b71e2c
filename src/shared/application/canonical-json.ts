/**
 * JSON for files that people compare and merge: one way to write a value, small objects on one line, and each part of what is opened
 * on lines of its own, so that a change of one part changes its lines only.
 */
import { isJsonObject, type JsonValue } from '../json.ts'

/** Of a line, with its indent and name. */
const WIDTH = 110

/** `opened`: levels of which each part has its own lines, however small it is. Ends with a line break. */
export function canonicalJson(value: JsonValue, opened: number): string {
  return `${written(value, '', opened, 0)}\n`
}

function written(value: JsonValue, indent: string, opened: number, before: number): string {
  const parts = partsOf(value)
  if (parts === undefined || parts.length === 0) return inOneLine(value)
  if (opened <= 0) {
    const line = inOneLine(value)
    // One more for the comma.
    if (indent.length + before + line.length < WIDTH) return line
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const deeper = `${indent}  `
  const lines = parts.map(([name, part]) => {
    const head = name === undefined ? '' : `${JSON.stringify(name)}: `
    return `${deeper}${head}${written(part, deeper, opened - 1, head.length)}`
  })
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function partsOf(value: JsonValue): readonly (readonly [string | undefined, JsonValue])[] | undefined {
  if (Array.isArray(value)) return value.map((part: JsonValue) => [undefined, part] as const)
  return isJsonObject(value) ? Object.entries(value) : undefined
}

function inOneLine(value: JsonValue): string {
  const parts = partsOf(value)
  if (parts === undefined) return JSON.stringify(value)
  const texts = parts.map(([name, part]) =>
    name === undefined ? inOneLine(part) : `${JSON.stringify(name)}: ${inOneLine(part)}`,
  )
  if (Array.isArray(value)) return `[${texts.join(', ')}]`
  return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`
}
