import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { linkParts, pageLinks } from './page-pins.ts'

export default defineValue({
  identifier: 'state_navigation',
  title: 'Navigation',
  summary: 'Adds a row of links to related pages, such as overview, contacts and deals of a customer.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    links: {
      type: 'array',
      required: true,
      rows: linkParts,
      help: 'Objects with label and href, and current: true for the current page.',
    },
    label: { type: 'value', help: 'Name of the links for screen readers.' },
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
