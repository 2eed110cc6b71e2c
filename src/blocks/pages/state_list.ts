import { appendNode, nodesOf, type PageNode } from '../../shared/pages/page-content.ts'
import { defineValue, PinError } from '../block.ts'
import { textOf } from '../pins/scalar-values.ts'

const MAX_ITEMS = 1_000

export default defineValue({
  identifier: 'state_list',
  title: 'List',
  summary:
    'Adds a list to the page. The blocks between item and content render each item; without them it is a line of text.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    items: { type: 'array', help: 'The items, at most 1,000.' },
    content: {
      type: 'state',
      perFrame: true,
      help: 'Content of one item, built from item and index. Not wired: its text.',
    },
    ordered: { type: 'condition', default: false, help: 'Number the items.' },
    empty: { type: 'value', help: 'Shown when there are no items.' },
  },
  out: {
    state: { type: 'state', help: 'The page with the list.' },
    item: { type: 'any', frame: true, help: 'The current item. Only for blocks that lead to content.' },
    index: { type: 'number', frame: true, help: 'Position of the item, from 0.' },
  },
  settings: {},
  value({ state, items = [], content, ordered, empty }) {
    if (items.length > MAX_ITEMS) throw new PinError('items', 'must hold at most 1,000 items')
    const drawn = items.map((item, index): readonly PageNode[] =>
      content ? nodesOf(content({ item, index })) : [{ kind: 'text', text: textOf('items', item) }],
    )
    return {
      state: appendNode(state, {
        kind: 'list',
        ordered,
        items: drawn,
        ...(empty !== undefined && { empty }),
      }),
    }
  },
})
