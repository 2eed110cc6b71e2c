import { defineValue } from '../block.ts'
import { queryField } from '../names.ts'
import { matchesAny, matchesEmpty, scalarsOf } from './document-queries.ts'

export default defineValue({
  identifier: 'query_bool_term_fields',
  title: 'Field is',
  words: '{field} is[ {value}]',
  summary: 'Finds the documents whose field equals a value, or whose list contains it.',
  in: {
    field: { type: 'value', required: true, help: 'Name of the field; use dots for nested fields.' },
    value: {
      type: 'any',
      help: 'Text, a number, true or false, or a list: then any of its values. Text of a number, true or false also matches that value.',
    },
    ignore_empty: {
      type: 'condition',
      default: false,
      help: 'For optional request parameters. True: an empty value gives no filter. False: it finds the documents whose field is empty.',
    },
  },
  out: { query: { type: 'query', help: 'The filter; empty if the value is empty and ignored.' } },
  settings: {},
  value(inputs) {
    const field = queryField(inputs.field)
    const input = scalarsOf('value', inputs.value)
    const filled = input.filter((value) => value !== '')
    if (inputs.ignore_empty) return { query: filled.length === 0 ? undefined : matchesAny(field, filled) }
    // In a list beside others '' is a value like them; alone it asks for what is empty.
    return { query: filled.length === 0 ? matchesEmpty(field) : matchesAny(field, input) }
  },
})
