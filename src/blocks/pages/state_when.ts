import { appendNode, nodesOf } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'state_when',
  title: 'Show when',
  words: 'Show when {condition}',
  summary:
    'Shows a part of the page only if a condition is true, such as a button for users with a scope, or a warning.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    condition: { type: 'condition', default: false, help: 'The condition.' },
    content: { type: 'state', help: 'Shown if the condition is true.' },
    otherwise: { type: 'state', help: 'Shown if it is false. Empty: nothing.' },
  },
  out: { state: { type: 'state', help: 'The page with the part, or without it.' } },
  settings: {},
  value({ state, condition, content, otherwise }) {
    let shown = state
    for (const node of nodesOf(condition ? content : otherwise)) shown = appendNode(shown, node)
    return { state: shown }
  },
})
