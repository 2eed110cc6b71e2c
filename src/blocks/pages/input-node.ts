import { fieldNameProblem } from '../../shared/field-path.ts'
import { wordsOfField } from '../../shared/fields/field-names.ts'
import { wordFor } from '../../shared/fields/type-words.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import {
  type InputOption,
  type InputType,
  inputTypes,
  type PageInput,
} from '../../shared/pages/page-input.ts'
import type { PinError } from '../block.ts'
import { builderStorage } from '../names.ts'

/** What a builder writes of an input: the pins of the block "Input", or an object in the list of a form. */
export interface WrittenInput {
  readonly field: string
  readonly label?: string | undefined
  readonly type?: string | undefined
  readonly value?: JsonValue | undefined
  readonly required?: boolean | undefined
  readonly options?: readonly JsonValue[] | undefined
  readonly storage?: string | undefined
  readonly help?: string | undefined
  readonly placeholder?: string | undefined
  readonly autocomplete?: string | undefined
  readonly min?: JsonValue | undefined
  readonly max?: JsonValue | undefined
  readonly max_length?: number | undefined
  readonly accept?: string | undefined
  readonly multiple?: boolean | undefined
}

/** Makes the error for the part of the input that does not fit. */
type Refuse = (part: 'field' | 'options', message: string) => PinError

const MAX_OPTIONS = 1_000

export const writtenTypes: readonly string[] = [...inputTypes, 'e-mail']

export function inputNode(written: WrittenInput, refuse: Refuse): PageInput {
  const type = written.type === 'e-mail' ? 'email' : (wordFor(written.type, inputTypes) ?? 'auto')
  return {
    kind: 'input',
    name: inputName(written.field, refuse),
    label: written.label || wordsOfField(written.field),
    type: typeWith(type, written.options),
    ...(written.storage !== undefined && { storage: builderStorage(written.storage) }),
    ...(written.value !== undefined && { value: written.value }),
    ...(written.required && { required: true }),
    ...(written.options !== undefined && { options: optionsOf(written.options, refuse) }),
    ...(written.help !== undefined && { help: written.help }),
    ...(written.placeholder !== undefined && { placeholder: written.placeholder }),
    ...(written.autocomplete !== undefined && { autocomplete: written.autocomplete }),
    ...(isBound(written.min) && { min: written.min }),
    ...(isBound(written.max) && { max: written.max }),
    ...(written.max_length !== undefined && { maxLength: written.max_length }),
    ...(written.accept !== undefined && { accept: written.accept }),
    ...(written.multiple && { multiple: true }),
  }
}

function inputName(field: string, refuse: Refuse): string {
  const problem = fieldNameProblem(field)
  if (problem) throw refuse('field', `is not a field name: it ${problem}`)
  // Those are what the page itself sends with its forms.
  if (field.startsWith('_')) throw refuse('field', 'starts with _, which is reserved for Quoin')
  return field
}

function typeWith(type: InputType, options: readonly JsonValue[] | undefined): InputType {
  return type === 'auto' && options !== undefined ? 'choice' : type
}

function optionsOf(options: readonly JsonValue[], refuse: Refuse): InputOption[] {
  if (options.length > MAX_OPTIONS) throw refuse('options', 'must be at most 1,000: use a search for more')
  return options.map((option) => {
    if (!isJsonObject(option)) {
      const text = scalarText(option)
      if (text === undefined) throw refuse('options', 'must contain values, or objects with value and label')
      return { value: text, label: text }
    }
    const value = scalarText(option.value)
    if (value === undefined) throw refuse('options', 'holds an object without a value')
    return { value, label: scalarText(option.label) ?? value }
  })
}

/** Text, numbers, true and false as text; undefined for anything else. */
function scalarText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function isBound(value: JsonValue | undefined): value is number | string {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}
