import type { JsonValue } from '../../../shared/json.ts'

/** A value as one short line. */
export function short(value: JsonValue | undefined, most = 60): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
