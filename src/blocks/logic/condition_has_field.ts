import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { defineValue } from '../block.ts'
import { queryField } from '../names.ts'

export default defineValue({
  identifier: 'condition_has_field',
  title: 'Has field',
  words: '[{object} ]has {field}',
  summary:
    'Checks whether an object has a field, even an empty one. For requests that change only the fields they send.',
  in: {
    object: { type: 'object', help: 'The object to check. Empty: it has no fields.' },
    field: { type: 'value', required: true, help: 'Name of the field; use dots for nested fields.' },
  },
  out: { condition: { type: 'condition', help: 'True if the field exists, whatever its value.' } },
  settings: {},
  value: ({ object, field }) => ({
    condition: valueAt(object, parseFieldPath(queryField(field))) !== undefined,
  }),
})
