import { isUtf8 } from 'node:buffer'
import { parse } from 'secure-json-parse'
import { Refusal } from './refusal.ts'

const MAX_DEPTH = 64

/** A JSON body, or undefined if there is none. Refused: what is not UTF-8, prototype keys, U+0000, half surrogates, depth. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new Refusal(400, 'The body is not UTF-8.')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw new Refusal(400, 'The body is not JSON, or has a key that reaches into a prototype.')
  }
  check(value, 0)
  return value
}

function check(value: unknown, depth: number): void {
  if (typeof value === 'string') checkText(value)
  if (typeof value !== 'object' || value === null) return
  if (depth >= MAX_DEPTH) throw new Refusal(400, `The body is nested deeper than ${MAX_DEPTH} levels.`)
  if (Array.isArray(value)) {
    for (const item of value) check(item, depth + 1)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    checkText(key)
    check(item, depth + 1)
  }
}

function checkText(text: string): void {
  if (text.includes('\u0000')) throw new Refusal(400, 'The body holds the character U+0000.')
  if (!text.isWellFormed()) throw new Refusal(400, 'The body holds half of a surrogate pair.')
}
