import { isDeepStrictEqual } from 'node:util'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_in_list',
  title: 'Is in list',
  summary:
    'Tells whether a value is one of a list: whether the stage is Won or Lost, whether a tag is among the tags.',
  in: {
    value: { type: 'any', help: 'The value to look for. An empty one is in no list.' },
    array: { type: 'array', help: 'The list. Empty: nothing is in it.' },
  },
  out: {
    condition: { type: 'condition', help: 'True when the value is in the list.' },
    index: { type: 'number', help: 'Where it stands first, from 0. Empty when it is not there.' },
  },
  settings: {},
  value({ value, array = [] }) {
    const index =
      value === undefined || value === null ? -1 : array.findIndex((item) => isDeepStrictEqual(item, value))
    return { condition: index >= 0, ...(index >= 0 && { index }) }
  },
})
