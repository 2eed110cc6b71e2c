import { appendNode } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { pageLinks } from './page-links.ts'

export default defineValue({
  identifier: 'state_navigation',
  title: 'Navigation',
  summary:
    'Adds a line of links to the page, between parts of one thing: overview, contacts, deals of a customer.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    links: {
      type: 'array',
      required: true,
      help: 'Objects with label and href, and current: true for the one that is being shown.',
    },
    label: { type: 'value', help: 'What the links are about, for screen readers.' },
  },
  out: { state: { type: 'state', help: 'The page with the links.' } },
  settings: {},
  value: ({ state, links, label }) => ({
    state: appendNode(state, {
      kind: 'navigation',
      links: pageLinks('links', links),
      ...(label !== undefined && { label }),
    }),
  }),
})
