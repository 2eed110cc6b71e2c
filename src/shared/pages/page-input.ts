/** Inputs of a page. See `page-content.ts`. */
import type { JsonValue } from '../json.ts'

export const inputTypes = [
  'text',
  /** Text without line breaks; it looks the same. */
  'line',
  'number',
  'date',
  'date_time',
  'email',
  'password',
  'area',
  'choice',
  'choices',
  'check',
  'file',
  'hidden',
  /** Before the door: whatever the field asks for. */
  'auto',
] as const
export type InputType = (typeof inputTypes)[number]

export interface InputOption {
  readonly value: string
  readonly label: string
}

export interface PageInput {
  readonly kind: 'input'
  /** The field; also its name in the HTML form. Never starts with `_`. */
  readonly name: string
  readonly label: string
  readonly type: InputType
  /** The storage whose blueprint field of this name rules it; undefined: that of the form. */
  readonly storage?: string
  /** What stands in it. After an error: what was typed. Text; `choices`: a list; `check`: a boolean. Never for passwords and files. */
  readonly value?: JsonValue
  readonly required?: boolean
  readonly options?: readonly InputOption[]
  readonly help?: string
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly min?: number | string
  readonly max?: number | string
  /** `any` or a number as text. */
  readonly step?: string
  readonly minLength?: number
  readonly maxLength?: number
  /** File types, such as `image/*`. */
  readonly accept?: string
  readonly multiple?: boolean
  readonly disabled?: boolean
  /** Set by the door: id of the HTML element, unique on the page. */
  readonly id?: string
  /** Set by the door: what is wrong with what was typed, a whole sentence in the page's language. */
  readonly error?: string
}
