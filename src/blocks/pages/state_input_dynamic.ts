import { otherWords } from '../../shared/fields/type-words.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue, PinError } from '../block.ts'
import { inputNode, writtenTypes } from './input-node.ts'

export default defineValue({
  identifier: 'state_input_dynamic',
  title: 'Input',
  words: 'Input {label|field}',
  summary:
    'Adds an input to a form. A form can list its inputs itself; this block adds one among other content. If the storage of the input or form has a blueprint field of this name, the field defines the kind and the allowed values.',
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
      choices: writtenTypes,
      otherChoices: otherWords(writtenTypes),
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
      rows: { value: { kind: 'name' }, label: { kind: 'text' } },
      help: 'For choice and choices: values, or objects with value and label. Empty: the choices of the blueprint field; where it refers to documents, those that the visitor may see, by name. Where there are more than 200 of them, or they have more than 1 MB together, the guid is typed.',
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
    return {
      state: appendNode(
        inputs.state,
        inputNode(inputs, (pin, message) => new PinError(pin, message)),
      ),
    }
  },
})
