import { defineValue } from '../block.ts'
import { pinsNamed, withNamedValues } from '../named-values.ts'

export default defineValue({
  identifier: 'object_new_fields',
  title: 'New object',
  summary: 'Makes an object from values: each field you name becomes a pin.',
  in: {},
  out: { object: { type: 'object', help: 'The new object. Fields whose pins are empty are not in it.' } },
  settings: {
    fields: {
      kind: 'names',
      help: 'The names of the fields. A dot makes an object inside: customer.city.',
    },
  },
  moreIn: ({ fields }) => pinsNamed(fields, (name) => `The value of ${name}.`),
  value: (_inputs, context) => ({ object: withNamedValues({}, context.settings.fields, context) }),
})
