import { appendNode, nodesOf, type PageContent } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import type { InPins } from '../pin.ts'
import { formId } from './page-pins.ts'

export default defineValue({
  identifier: 'state_tabs',
  title: 'Tabs',
  summary:
    'Shows one of several parts of the page at a time: each name in tabs becomes a pin for the content of the tab.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    tabs_id: { type: 'value', default: 'tabs', help: 'Name of the tabs, unique on the page.' },
    label: { type: 'value', help: 'Name of the tabs for screen readers.' },
  },
  out: { state: { type: 'state', help: 'The page with the tabs.' } },
  settings: {
    tabs: { kind: 'names', help: 'Names of the tabs, in order.' },
  },
  moreIn: ({ tabs }): InPins =>
    Object.fromEntries(tabs.map((name) => [name, { type: 'state', help: `Content of the tab ${name}.` }])),
  value({ state, tabs_id, label }, { settings, more }) {
    return {
      state: appendNode(state, {
        kind: 'tabs',
        id: formId('tabs_id', tabs_id),
        tabs: settings.tabs.map((name) => ({ label: name, content: nodesOf(contentOf(more[name])) })),
        ...(label !== undefined && { label }),
      }),
    }
  },
})

/** Pins of the type `state` hold nothing else. */
function contentOf(input: unknown): PageContent | undefined {
  return isContent(input) ? input : undefined
}

function isContent(input: unknown): input is PageContent {
  return typeof input === 'object' && input !== null && 'node' in input && 'before' in input
}
