import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { defineValue } from '../block.ts'
import { queryField } from '../query-field.ts'

export default defineValue({
  identifier: 'condition_has_field',
  title: 'Has field',
  summary:
    'Tells whether an object has a field at all, also when that field is empty. For requests that change only what they send.',
  in: {
    object: { type: 'object', help: 'The object to look into. Empty: it has no fields.' },
    field: { type: 'value', required: true, help: 'The name of the field; a dot goes into a nested object.' },
  },
  out: { condition: { type: 'condition', help: 'True when the field is there, whatever it holds.' } },
  settings: {},
  value: ({ object, field }) => ({
    condition: valueAt(object, parseFieldPath(queryField(field))) !== undefined,
  }),
})
