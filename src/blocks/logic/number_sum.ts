import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { defineValue, PinError } from '../block.ts'
import { queryField } from '../query-field.ts'

export default defineValue({
  identifier: 'number_sum',
  title: 'Sum of a list',
  summary:
    'Adds up the numbers of a list, or a field of each of its objects: the amounts of the deals that were found.',
  in: {
    array: { type: 'array', help: 'Numbers, or objects such as documents. Empty: the sum is 0.' },
    field: {
      type: 'value',
      help: 'The field to add up; a dot goes into a nested object. Empty: the list holds the numbers.',
    },
  },
  out: {
    number: { type: 'number', help: 'The sum. What has no number there counts as nothing.' },
    count: { type: 'number', help: 'How many numbers were added.' },
    average: { type: 'number', help: 'The sum divided by their count. Empty when there is none.' },
  },
  settings: {},
  value({ array = [], field }) {
    const path = field === undefined || field === '' ? undefined : parseFieldPath(queryField(field))
    const numbers = array.flatMap((item) => numberIn(item, path))
    const number = sumOf(numbers)
    if (!Number.isFinite(number)) throw new PinError('array', 'adds up to more than a number can hold')
    const count = numbers.length
    return { number, count, ...(count > 0 && { average: number / count }) }
  },
})

function numberIn(item: JsonValue, path: readonly string[] | undefined): readonly number[] {
  const value = path === undefined ? item : isJsonObject(item) ? valueAt(item, path) : undefined
  return typeof value === 'number' ? [value] : []
}

/** With what each addition lost (Neumaier): 0.1 ten times is 1. */
function sumOf(numbers: readonly number[]): number {
  let sum = 0
  let lost = 0
  for (const number of numbers) {
    const next = sum + number
    lost += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum
    sum = next
  }
  return Number.isFinite(lost) ? sum + lost : sum
}
