import { appendNode, everyNode, nodesOf, type PageNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { builderStorage } from '../names.ts'
import { formInputs, inputParts } from './form-inputs.ts'
import { formId } from './page-pins.ts'

export default defineValue({
  identifier: 'state_form',
  title: 'Form',
  words: 'Form {form_id}',
  summary:
    'Adds a form to the page. When valid values are submitted, the flow continues at submit. Invalid values are reported beside their inputs.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    form_id: { type: 'value', required: true, help: 'Name of the form, unique on the page.' },
    inputs: {
      type: 'array',
      rows: inputParts,
      help: 'The inputs, at most 200: names of fields, or objects with field and the pins of "Input" (label, type, value, required, options, help, placeholder, autocomplete, min, max, max_length …).',
    },
    content: { type: 'state', help: 'Further inputs and other content, below the inputs.' },
    storage: {
      type: 'storage',
      help: 'Storage of the form: its blueprint fields define and check the inputs.',
    },
    document: { type: 'object', help: 'Initial values, such as the document to edit.' },
    label: { type: 'value', help: 'Name of the form for screen readers.' },
    submit_label: {
      type: 'value',
      default: 'Save',
      help: 'Label of the submit button, unless the content has one.',
    },
  },
  out: {
    state: { type: 'state', help: 'The page with the form.' },
    submit: {
      type: 'flow',
      event: true,
      help: 'Continues here when the form is submitted with valid values.',
    },
    values: {
      type: 'object',
      event: true,
      help: 'Submitted values by field, converted to the types of the fields. In the flow at submit.',
    },
  },
  settings: {},
  check({ inputs }) {
    if (inputs !== undefined) formInputs(inputs)
  },
  value(inputs, { block = '' }) {
    const content = [...formInputs(inputs.inputs ?? []), ...nodesOf(inputs.content)]
    const storage = inputs.storage === undefined ? undefined : builderStorage(inputs.storage)
    return {
      state: appendNode(inputs.state, {
        kind: 'form',
        id: formId('form_id', inputs.form_id),
        block,
        content: hasSubmit(content) ? content : [...content, submitButton(inputs.submit_label)],
        ...(inputs.label !== undefined && { label: inputs.label }),
        ...(storage !== undefined && { storage }),
        ...(inputs.document !== undefined && { document: inputs.document }),
      }),
    }
  },
})

function hasSubmit(content: readonly PageNode[]): boolean {
  for (const node of everyNode(content)) if (node.kind === 'button' && node.action === 'submit') return true
  return false
}

function submitButton(label: string): PageNode {
  return { kind: 'button', action: 'submit', label, tone: 'primary' }
}
