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
    'Adds an input to a form. If the form, or the input, names a storage that has a blueprint field of this name, that field says how it is drawn and what fits.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field: what its value is called when the form is sent.',
    },
    label: { type: 'value', help: 'Words beside the input. Empty: made of the field’s name.' },
    type: {
      type: 'value',
      default: 'auto',
      choices: [...inputTypes, 'e-mail'],
      help: 'How it is drawn; auto is what the blueprint field asks for, else text.',
    },
    value: { type: 'any', help: 'What it starts with. Empty: what the form’s document has in this field.' },
    required: {
      type: 'condition',
      default: false,
      help: 'Must not be left empty. The blueprint field may ask for it too.',
    },
    options: {
      type: 'array',
      help: 'For choice and choices: values, or objects with value and label. Empty: what the blueprint field allows.',
    },
    storage: { type: 'storage', help: 'The storage whose blueprint field it is. Empty: that of the form.' },
    help: { type: 'value', help: 'A sentence that helps to fill it in.' },
    placeholder: { type: 'value', help: 'Shown while it is empty.' },
    autocomplete: {
      type: 'value',
      help: 'What browsers may fill in, such as name, email, tel or current-password.',
    },
    min: { type: 'any', help: 'Least number or date.' },
    max: { type: 'any', help: 'Greatest number or date.' },
    max_length: { type: 'number', min: 1, integer: true, help: 'Most characters.' },
    accept: { type: 'value', help: 'For files: what may be chosen, such as image/* or .pdf.' },
    multiple: { type: 'condition', default: false, help: 'For files: several may be chosen.' },
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
  if (problem) throw new PinError('field', `is no field name: it ${problem}`)
  // Those are what the page itself sends with its forms.
  if (field.startsWith('_')) throw new PinError('field', 'starts with _, which is kept for Quoin')
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
        throw new PinError('options', 'must hold values, or objects with value and label')
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
