import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-pins.ts'

export default defineValue({
  identifier: 'state_link',
  title: 'Link',
  words: 'Link {label}',
  summary: 'Adds a link to the page.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    label: { type: 'value', required: true, help: 'Text of the link. It should describe the target.' },
    url: {
      type: 'value',
      required: true,
      help: 'Target: a path such as /tasks, or an address with https://, mailto: or tel:.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the link.' } },
  settings: {},
  value: ({ state, label, url }) => ({
    state: appendNode(state, { kind: 'link', label, href: pageHref('url', url) }),
  }),
})
