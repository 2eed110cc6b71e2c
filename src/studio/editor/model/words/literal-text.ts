import type { JsonValue } from '../../../../shared/json.ts'
import type { PinType } from '../../../../shared/pin-type.ts'
import { modelTexts } from '../../../texts/editor.ts'

/** How the literal of a pin is written by hand. */
export type Writing = 'text' | 'number' | 'truth' | 'json' | 'free'

export function writingOf(type: PinType): Writing {
  switch (type) {
    case 'number':
      return 'number'
    case 'condition':
      return 'truth'
    case 'object':
    case 'array':
    case 'document':
    case 'documents':
    case 'user':
    case 'file':
      return 'json'
    case 'any':
      return 'free'
    default:
      return 'text'
  }
}

/** The literal as it stands in its field. Text on an `any` pin that would be read as JSON stands in quotes. */
export function literalText(value: JsonValue | undefined, writing: Writing): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value, null, 1)
  return writing === 'free' && readsAsJson(value) ? JSON.stringify(value) : value
}

export type Read = { readonly value: JsonValue | undefined } | { readonly problem: string }

/** What was written, as a value; empty is none. On an `any` pin what is no JSON is text. */
export function readLiteral(text: string, writing: Writing): Read {
  if (text.trim() === '') return { value: undefined }
  if (writing === 'text') return { value: text }
  if (writing === 'number') {
    const number = Number(text)
    return Number.isFinite(number) ? { value: number } : { problem: modelTexts.wantsNumber }
  }
  try {
    const value: JsonValue = JSON.parse(text)
    return { value }
  } catch {
    return writing === 'free' ? { value: text } : { problem: modelTexts.wantsJson }
  }
}

function readsAsJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
