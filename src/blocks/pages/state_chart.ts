import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { wordsOfField } from '../../shared/fields/field-names.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { defineValue, PinError } from '../block.ts'
import { numberInText, textOf } from '../pins/scalar-values.ts'
import { formId } from './page-pins.ts'

interface ChartFigures {
  /** What the labels are, in words; not where their field says no more than that. */
  readonly heading?: string
  readonly labels: readonly string[]
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

const MAX_ITEMS = 500
const MAX_SERIES = 6

/**
 * What a chart draws: one label for each item, and one series for each field of `values`. What is no number is a gap.
 * Throws PinError for `items`, `label` and `values`.
 */
function chartFigures(
  items: readonly JsonValue[],
  label: string,
  values: readonly JsonValue[],
): ChartFigures {
  if (items.length > MAX_ITEMS) throw new PinError('items', `must be at most ${MAX_ITEMS}`)
  if (values.length === 0 || values.length > MAX_SERIES)
    throw new PinError('values', `must name one to ${MAX_SERIES} fields`)
  const labelOf = reader('label', label)
  return {
    ...(label !== 'label' && { heading: wordsOfField(label) }),
    labels: items.map((item) => textOf('label', labelOf(item))),
    series: values.map((written) => {
      const { field, label: name } = isJsonObject(written) ? written : { field: written, label: undefined }
      if (typeof field !== 'string')
        throw new PinError('values', 'must contain names of fields, or objects with a field')
      const read = reader('values', field)
      return {
        name: typeof name === 'string' && name !== '' ? name : wordsOfField(field),
        values: items.map((item) => numberOf(read(item))),
      }
    }),
  }
}

function reader(pin: string, field: string): (item: JsonValue) => JsonValue | undefined {
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError(pin, `has the field ${JSON.stringify(field)}, which ${problem}`)
  const path = parseFieldPath(field)
  return (item) => valueAt(item, path)
}

function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? (numberInText(value) ?? null) : null
}

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
