import { fieldNameProblem } from '../../shared/field-path.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { appendNode } from '../../shared/page-content.ts'
import { type InputOption, type InputType, inputTypes, type PageInput } from '../../shared/page-input.ts'
import { defineValue, PinError } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { wordsOfField } from './table-columns.ts'

const MAX_OPTIONS = 1_000

export default defineValue({
  identifier: 'state_input_dynamic',
  title: 'Input',
  summary:
    'Adds an input to a form. If the storage of the input or form has a blueprint field of this name, the field defines the kind and the allowed values.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field in the submitted values.',
    },
    label: { type: 'value', help: 'Label of the input. Empty: derived from the field’s name.' },
    type: {
      type: 'value',
      default: 'auto',
      choices: [...inputTypes, 'e-mail'],
      help: 'Kind of input; auto: as the blueprint field defines, else text.',
    },
    value: { type: 'any', help: 'Initial value. Empty: the value in the form’s document.' },
    required: {
      type: 'condition',
      default: false,
      help: 'A value is required. The blueprint field may require it too.',
    },
    options: {
      type: 'array',
      help: 'For choice and choices: values, or objects with value and label. Empty: the choices of the blueprint field.',
    },
    storage: { type: 'storage', help: 'Storage of the blueprint field. Empty: the storage of the form.' },
    help: { type: 'value', help: 'Help text.' },
    placeholder: { type: 'value', help: 'Placeholder, shown while the input is empty.' },
    autocomplete: {
      type: 'value',
      help: 'Autofill by browsers, such as name, email, tel or current-password.',
    },
    min: { type: 'any', help: 'Minimum number or date.' },
    max: { type: 'any', help: 'Maximum number or date.' },
    max_length: { type: 'number', min: 1, integer: true, help: 'Maximum number of characters.' },
    accept: { type: 'value', help: 'For files: accepted types, such as image/* or .pdf.' },
    multiple: { type: 'condition', default: false, help: 'For files: allow several.' },
  },
  out: { state: { type: 'state', help: 'The form with the input.' } },
  settings: {},
  value(inputs) {
    const type =
      inputTypes.find((one) => one === inputs.type) ?? (inputs.type === 'e-mail' ? 'email' : 'auto')
    const node: PageInput = {
      kind: 'input',
      name: inputName(inputs.field),
      label: inputs.label || wordsOfField(inputs.field),
      type: typeWith(type, inputs.options),
      ...(inputs.storage !== undefined && { storage: builderStorage(inputs.storage) }),
      ...(inputs.value !== undefined && { value: inputs.value }),
      ...(inputs.required && { required: true }),
      ...(inputs.options !== undefined && { options: optionsOf(inputs.options) }),
      ...(inputs.help !== undefined && { help: inputs.help }),
      ...(inputs.placeholder !== undefined && { placeholder: inputs.placeholder }),
      ...(inputs.autocomplete !== undefined && { autocomplete: inputs.autocomplete }),
      ...(isBound(inputs.min) && { min: inputs.min }),
      ...(isBound(inputs.max) && { max: inputs.max }),
      ...(inputs.max_length !== undefined && { maxLength: inputs.max_length }),
      ...(inputs.accept !== undefined && { accept: inputs.accept }),
      ...(inputs.multiple && { multiple: true }),
    }
    return { state: appendNode(inputs.state, node) }
  },
})

function inputName(field: string): string {
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError('field', `is not a field name: it ${problem}`)
  // Those are what the page itself sends with its forms.
  if (field.startsWith('_')) throw new PinError('field', 'starts with _, which is reserved for Quoin')
  return field
}

function typeWith(type: InputType, options: readonly JsonValue[] | undefined): InputType {
  return type === 'auto' && options !== undefined ? 'choice' : type
}

function optionsOf(options: readonly JsonValue[]): InputOption[] {
  if (options.length > MAX_OPTIONS)
    throw new PinError('options', 'must be at most 1,000: use a search for more')
  return options.map((option) => {
    if (!isJsonObject(option)) {
      const text = scalarText(option)
      if (text === undefined)
        throw new PinError('options', 'must contain values, or objects with value and label')
      return { value: text, label: text }
    }
    const value = scalarText(option.value)
    if (value === undefined) throw new PinError('options', 'holds an object without a value')
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
