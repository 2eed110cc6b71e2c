import { appendNode, nodesOf } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { formId } from './page-pins.ts'

export default defineValue({
  identifier: 'state_modal',
  title: 'Modal',
  words: 'Modal {title|label}',
  summary: 'Adds a button that opens a dialog, such as one with a short form.',
  in: {
    state: { type: 'state', help: 'Content before it.' },
    modal_id: { type: 'value', required: true, help: 'Name of the dialog, unique on the page.' },
    label: { type: 'value', required: true, help: 'Label of the button.' },
    title: { type: 'value', help: 'Title of the dialog. Empty: label of the button.' },
    content: { type: 'state', help: 'Content of the dialog.' },
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
