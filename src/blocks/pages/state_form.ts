import { appendNode, everyNode, nodesOf, type PageNode } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { formId } from './form-id.ts'

export default defineValue({
  identifier: 'state_form',
  title: 'Form',
  summary:
    'Adds a form to the page. When it is sent and everything in it fits, the flow behind submit goes on; what does not fit is shown beside its input.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    form_id: { type: 'value', required: true, help: 'Name of the form, one of its kind on the page.' },
    content: { type: 'state', help: 'Inputs, and whatever else stands in the form.' },
    storage: {
      type: 'storage',
      help: 'The storage that the form is about: the blueprint fields of this storage draw and check its inputs.',
    },
    document: { type: 'object', help: 'What the inputs start with, such as the document that is edited.' },
    label: { type: 'value', help: 'What the form is called, for screen readers.' },
    submit_label: {
      type: 'value',
      default: 'Save',
      help: 'Words on the button, unless the content has a submit button of its own.',
    },
  },
  out: {
    state: { type: 'state', help: 'The page with the form.' },
    submit: { type: 'flow', event: true, help: 'Goes on when the form was sent and fits.' },
    values: {
      type: 'object',
      event: true,
      help: 'What was sent, by field, as its fields want it: numbers as numbers. In the flow behind submit.',
    },
  },
  settings: {},
  value(inputs, { block = '' }) {
    const content = nodesOf(inputs.content)
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
