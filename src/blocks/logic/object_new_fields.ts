import { defineValue } from '../block.ts'
import { pinsNamed, withNamedValues } from '../pins/named-values.ts'

export default defineValue({
  identifier: 'object_new_fields',
  title: 'New object',
  summary: 'Creates an object from values: each named field becomes a pin.',
  in: {},
  out: { object: { type: 'object', help: 'The new object. Fields with empty pins are omitted.' } },
  settings: {
    fields: {
      kind: 'names',
      help: 'Names of the fields. A dot creates a nested object: customer.city.',
    },
  },
  moreIn: ({ fields }) => pinsNamed(fields, (name) => `The value of ${name}.`),
  value: (_inputs, context) => ({ object: withNamedValues({}, context.settings.fields, context) }),
})
