import type { JsonValue } from '../../../../shared/json.ts'
import { modelTexts } from '../../../texts/model.ts'

/** A value as one short line. */
export function short(value: JsonValue | undefined, most = 60): string {
  if (value === undefined) return modelTexts.nothing
  return cut(typeof value === 'string' ? `“${value}”` : JSON.stringify(value), most)
}

/** A text as one line of at most so many characters. */
export function cut(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
