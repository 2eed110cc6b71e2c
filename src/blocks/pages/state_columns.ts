import { appendNode, nodesOf } from '../../shared/pages/page-content.ts'
import { defineValue, PinError } from '../block.ts'

export default defineValue({
  identifier: 'state_columns',
  title: 'Columns',
  summary: 'Puts parts of the page side by side. In a narrow window they are stacked.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    columns: {
      type: 'state',
      several: true,
      help: 'Content of each column, from left to right (in right-to-left languages from right to left).',
    },
    widths: {
      type: 'array',
      help: 'Relative widths, from 1 to 4: [2, 1] makes the first column twice as wide. Empty: equal widths.',
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
