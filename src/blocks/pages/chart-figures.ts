import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { wordsOfField } from '../../shared/fields/words-of-field.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { PinError } from '../block.ts'
import { numberInText } from '../pins/scalar-text.ts'
import { textOf } from '../text-of.ts'

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
export function chartFigures(
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
