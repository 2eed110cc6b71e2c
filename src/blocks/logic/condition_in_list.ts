import { isDeepStrictEqual } from 'node:util'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_in_list',
  title: 'Is in list',
  words: '{value} is in {array}',
  summary: 'Checks whether a list contains a value: whether the stage is Won or Lost, whether a tag is set.',
  in: {
    value: { type: 'any', help: 'The value to find. No list contains an empty value.' },
    array: { type: 'array', help: 'The list. Empty: it contains nothing.' },
  },
  out: {
    condition: { type: 'condition', help: 'True if the list contains the value.' },
    index: { type: 'number', help: 'First position of the value, from 0. Empty if it is missing.' },
  },
  settings: {},
  value({ value, array = [] }) {
    const index =
      value === undefined || value === null ? -1 : array.findIndex((item) => isDeepStrictEqual(item, value))
    return { condition: index >= 0, ...(index >= 0 && { index }) }
  },
})
