import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { exactAverage, exactSum } from '../../shared/numbers/decimal.ts'
import { defineValue, PinError } from '../block.ts'
import { queryField } from '../names.ts'

export default defineValue({
  identifier: 'number_sum',
  title: 'Sum of a list',
  words: 'Sum of[ {field} of] {array}',
  summary:
    'Adds up the numbers of a list, or a field of each of its objects, such as the amounts of found deals.',
  in: {
    array: { type: 'array', help: 'Numbers, or objects such as documents. Empty: the sum is 0.' },
    field: {
      type: 'value',
      help: 'The field to add up; use dots for nested fields. Empty: the list contains the numbers.',
    },
  },
  out: {
    number: { type: 'number', help: 'The sum. Items without a number count as 0.' },
    count: { type: 'number', help: 'Number of added values.' },
    average: { type: 'number', help: 'The sum divided by the count. Empty if the count is 0.' },
  },
  settings: {},
  value({ array = [], field }) {
    const path = field === undefined || field === '' ? undefined : parseFieldPath(queryField(field))
    const numbers = array.flatMap((item) => numberIn(item, path))
    const number = exactSum(numbers)
    if (!Number.isFinite(number)) throw new PinError('array', 'exceeds the largest number')
    const count = numbers.length
    return { number, count, ...(count > 0 && { average: exactAverage(numbers) }) }
  },
})

function numberIn(item: JsonValue, path: readonly string[] | undefined): readonly number[] {
  const value = path === undefined ? item : isJsonObject(item) ? valueAt(item, path) : undefined
  return typeof value === 'number' ? [value] : []
}
