import { appendNode } from '../../shared/pages/page-content.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { defineValue } from '../block.ts'
import { chartFigures } from './chart-figures.ts'
import { formId } from './form-id.ts'

const types = ['bar', 'line', 'pie'] as const

export default defineValue({
  identifier: 'state_chart',
  title: 'Chart',
  words: 'Chart {title}',
  summary:
    'Adds a bar, line or pie chart to the page. Visitors can open its figures as a table. It works without JavaScript.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    title: { type: 'value', required: true, help: 'Title of the chart.' },
    type: {
      type: 'value',
      choices: types,
      default: 'bar',
      help: 'Kind of chart: bar, line or pie.',
    },
    items: {
      type: 'array',
      required: true,
      help: 'Objects or documents, one for each bar, point or part, at most 500.',
    },
    label: {
      type: 'value',
      default: 'label',
      help: 'Field with the label of an item. Its name heads the labels where the figures are a table.',
    },
    values: {
      type: 'array',
      help: 'Fields with numbers, one for each series: names, or objects with field and label. Empty: the field value.',
    },
    kind: {
      type: 'value',
      choices: ['number', 'currency', 'percent'],
      default: 'number',
      help: 'Format of the numbers.',
    },
    currency: {
      type: 'value',
      help: 'Currency of amounts: a code such as EUR, or the field that has one, such as orders.total.',
    },
    chart_id: { type: 'value', default: 'chart', help: 'Name of the chart, unique on the page.' },
  },
  out: { state: { type: 'state', help: 'The page with the chart.' } },
  settings: {},
  value({ state, title, type, items, label, values, kind, currency, chart_id }, context) {
    const labelsOf = context.groupedBy?.('items', label)
    const format = valueFormats.find((one) => one === kind) ?? 'number'
    return {
      state: appendNode(state, {
        kind: 'chart',
        id: formId('chart_id', chart_id),
        type: types.find((one) => one === type) ?? 'bar',
        title,
        ...chartFigures(items, label, values ?? ['value']),
        ...(labelsOf !== undefined && { labelsOf }),
        format,
        ...(currency !== undefined && { currency }),
      }),
    }
  },
})
