/** Values of a run as they are read in passing, beside a pin. */
import { bytes } from '../../../controls/amounts.ts'
import { countsTexts, modelTexts } from '../../../texts/editor.ts'

/** What stands for a value that was too long to be kept: how it begins, and its length as JSON. */
export interface CutValue {
  readonly $cut: string
  readonly bytes: number
}

export function isCut(value: unknown): value is CutValue {
  return isFields(value) && typeof value.$cut === 'string' && typeof value.bytes === 'number'
}

/** The server's text for a pin that is evaluated for each item of a list. */
const EACH = '(evaluated once for each item)'

/** A few characters that tell one value from another: `"Buy milk"`, `3 items`, `{title, status}`. */
export function glance(value: unknown, most = 20): string {
  if (value === undefined) return modelTexts.nothing
  if (value === EACH) return modelTexts.forEachItem
  if (typeof value === 'string') return JSON.stringify(clipped(value, most - 2))
  if (Array.isArray(value)) return countsTexts.items(value.length)
  if (isCut(value)) return bytes(value.bytes)
  if (isFields(value)) return fieldsOf(value, most)
  return JSON.stringify(value)
}

/** Names of its fields, those of the document itself before `_meta`. */
function fieldsOf(value: Readonly<Record<string, unknown>>, most: number): string {
  const names = Object.keys(value)
  const own = [
    ...names.filter((name) => !name.startsWith('_')),
    ...names.filter((name) => name.startsWith('_')),
  ]
  return `{${clipped(own.join(', '), most - 2)}}`
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
