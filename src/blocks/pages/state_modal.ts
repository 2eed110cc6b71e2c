import { appendNode, nodesOf } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { formId } from './form-id.ts'

export default defineValue({
  identifier: 'state_modal',
  title: 'Modal',
  summary: 'Adds a button to the page that opens a window above it, such as one with a short form.',
  in: {
    state: { type: 'state', help: 'What is before it.' },
    modal_id: { type: 'value', required: true, help: 'Name of the window, one of its kind on the page.' },
    label: { type: 'value', required: true, help: 'Words on the button.' },
    title: { type: 'value', help: 'Title of the window. Empty: the words on the button.' },
    content: { type: 'state', help: 'What stands in the window.' },
  },
  out: { state: { type: 'state', help: 'The page with the button.' } },
  settings: {},
  value({ state, modal_id, label, title, content }) {
    const id = formId('modal_id', modal_id)
    return {
      state: appendNode(state, {
        kind: 'modal',
        id,
        label,
        title: title ?? label,
        content: nodesOf(content),
      }),
    }
  },
})
