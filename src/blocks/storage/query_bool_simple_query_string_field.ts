import { textProblem } from '../../storage/search/check-search.ts'
import { defineValue, PinError } from '../block.ts'
import { queryField } from '../names.ts'

export default defineValue({
  identifier: 'query_bool_simple_query_string_field',
  title: 'Free text',
  words: 'Text[ in {field}] has {value}',
  summary:
    'Finds documents by words, best matches first. Supports "exact words", begin*, -without, either | or, ( ), and word~1 for one wrong letter.',
  in: {
    field: {
      type: 'value',
      several: true,
      help: 'Fields to search; use dots for nested fields. Empty: all text of the document.',
    },
    value: {
      type: 'value',
      help: 'The words to find. At most 8 of them with spelling mistakes allowed (word~1), and 8 phrases with gaps ("two words"~3).',
    },
    ignore_empty: {
      type: 'condition',
      default: true,
      help: 'True: empty text gives no filter. False: it finds nothing.',
    },
  },
  out: { query: { type: 'query', help: 'The filter; empty if the text is empty and ignored.' } },
  settings: {},
  value({ field, value = '', ignore_empty }) {
    const fields = field.filter((name) => name !== '').map((name) => queryField(name))
    const problem = textProblem([value])
    if (problem) throw new PinError('value', problem)
    if (value.trim() !== '') return { query: { kind: 'simple_query_string', fields, text: value } }
    return { query: ignore_empty ? undefined : { kind: 'or', queries: [] } }
  },
})
