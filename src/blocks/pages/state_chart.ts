import { appendNode } from '../../shared/page-content.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { defineValue } from '../block.ts'
import { chartFigures } from './chart-figures.ts'
import { formId } from './form-id.ts'

const types = ['bar', 'line', 'pie'] as const

export default defineValue({
  identifier: 'state_chart',
  title: 'Chart',
  summary:
    'Draws figures on the page as bars, lines or parts of a whole. The same figures can be opened as a table, and no script is needed.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    title: { type: 'value', required: true, help: 'What the figures are.' },
    type: {
      type: 'value',
      choices: types,
      default: 'bar',
      help: 'How it is drawn: as a bar, line or pie chart.',
    },
    items: {
      type: 'array',
      required: true,
      help: 'Objects or documents, one for each bar, point or part, at most 500.',
    },
    label: { type: 'value', default: 'label', help: 'The field that names an item.' },
    values: {
      type: 'array',
      help: 'Fields that hold numbers, one for each series: names, or objects with field and label. Empty: the field value.',
    },
    kind: {
      type: 'value',
      choices: ['number', 'currency', 'percent'],
      default: 'number',
      help: 'What the numbers are.',
    },
    currency: { type: 'value', help: 'Of amounts, such as EUR.' },
    chart_id: { type: 'value', default: 'chart', help: 'Name of the chart, one of its kind on the page.' },
  },
  out: { state: { type: 'state', help: 'The page with the chart.' } },
  settings: {},
  value({ state, title, type, items, label, values, kind, currency, chart_id }) {
    const format = valueFormats.find((one) => one === kind) ?? 'number'
    return {
      state: appendNode(state, {
        kind: 'chart',
        id: formId('chart_id', chart_id),
        type: types.find((one) => one === type) ?? 'bar',
        title,
        ...chartFigures(items, label, values ?? ['value']),
        format,
        ...(currency !== undefined && { currency }),
      }),
    }
  },
})
