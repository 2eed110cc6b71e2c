import { appendNode, nodesOf } from '../../shared/page-content.ts'
import { defineValue, PinError } from '../block.ts'

export default defineValue({
  identifier: 'state_columns',
  title: 'Columns',
  summary: 'Puts parts of the page side by side. On a narrow window they stand below each other.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    columns: {
      type: 'state',
      several: true,
      help: 'What stands in each column, from the start of the line on.',
    },
    widths: {
      type: 'array',
      help: 'How wide they are compared with each other, from 1 to 4: [2, 1] makes the first twice as wide. Empty: all the same.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the columns.' } },
  settings: {},
  value({ state, columns, widths = [] }) {
    return {
      state: appendNode(state, {
        kind: 'columns',
        columns: columns.map(nodesOf),
        widths: widths.map(widthOf),
      }),
    }
  },
})

function widthOf(width: unknown): number {
  if (typeof width !== 'number' || !Number.isInteger(width) || width < 1 || width > 4)
    throw new PinError('widths', 'must be a list of whole numbers from 1 to 4')
  return width
}
