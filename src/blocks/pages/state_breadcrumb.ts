import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { linkParts, pageLinks } from './page-pins.ts'

export default defineValue({
  identifier: 'state_breadcrumb',
  title: 'Breadcrumb',
  summary: 'Shows the path to the page: links from the start page to the current one.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    links: {
      type: 'array',
      required: true,
      rows: linkParts,
      help: 'Objects with label and href; the last one is this page.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the links.' } },
  settings: {},
  value: ({ state, links }) => ({
    state: appendNode(state, { kind: 'breadcrumb', links: pageLinks('links', links) }),
  }),
})
