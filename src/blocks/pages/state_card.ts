import { appendNode, nodesOf } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-href.ts'

export default defineValue({
  identifier: 'state_card',
  title: 'Card',
  summary:
    'Adds a card to the page: something that belongs together, with a title, or one large figure for a dashboard.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    title: { type: 'value', help: 'What the card is about.' },
    figure: { type: 'value', help: 'A number or a few words, shown large.' },
    note: { type: 'value', help: 'Small, below the title or the figure.' },
    content: { type: 'state', help: 'What stands in the card.' },
    url: { type: 'value', help: 'Where the title leads.' },
  },
  out: { state: { type: 'state', help: 'The page with the card.' } },
  settings: {},
  value({ state, title, figure, note, content, url }) {
    return {
      state: appendNode(state, {
        kind: 'card',
        content: nodesOf(content),
        ...(title !== undefined && { title }),
        ...(figure !== undefined && { figure }),
        ...(note !== undefined && { note }),
        ...(url !== undefined && { href: pageHref('url', url) }),
      }),
    }
  },
})
