import { appendNode, nodesOf } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'state_when',
  title: 'Show when',
  summary:
    'Shows a part of the page only when a condition holds: a button for those who may use it, a warning when something is wrong.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    condition: { type: 'condition', default: false, help: 'Whether the content is shown.' },
    content: { type: 'state', help: 'What is shown when the condition holds.' },
    otherwise: { type: 'state', help: 'What is shown when it does not. Empty: nothing.' },
  },
  out: { state: { type: 'state', help: 'The page with the part, or without it.' } },
  settings: {},
  value({ state, condition, content, otherwise }) {
    let shown = state
    for (const node of nodesOf(condition ? content : otherwise)) shown = appendNode(shown, node)
    return { state: shown }
  },
})
