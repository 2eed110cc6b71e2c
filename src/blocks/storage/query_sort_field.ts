import { defineValue } from '../block.ts'
import { queryField } from '../names.ts'

export default defineValue({
  identifier: 'query_sort_field',
  title: 'Sort by field',
  words: 'By {field}[ {order}]',
  summary: 'Puts the documents of a search in the order of a field.',
  in: {
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field, such as _meta.created; a dot reaches into a nested object.',
    },
    order: {
      type: 'value',
      default: 'asc',
      choices: ['asc', 'desc'],
      help: 'asc: smallest, oldest or A first. desc: the reverse.',
    },
    missing: {
      type: 'value',
      default: 'last',
      choices: ['first', 'last'],
      help: 'Position of documents without the field, in both orders.',
    },
  },
  out: {
    sort: { type: 'sort', help: 'The order, for search blocks; wire several to sort by several fields.' },
  },
  settings: {},
  value(inputs) {
    return {
      sort: {
        field: queryField(inputs.field),
        order: inputs.order === 'desc' ? 'desc' : 'asc',
        missing: inputs.missing === 'first' ? 'first' : 'last',
      },
    }
  },
})
