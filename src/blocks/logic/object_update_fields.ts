import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { defineValue } from '../block.ts'
import { pinsNamed, withNamedValues } from '../pins/named-values.ts'

export default defineValue({
  identifier: 'object_update_fields',
  title: 'Change or read object fields',
  summary:
    'Returns a copy of an object with changed fields, and the values of selected fields. The input object is unchanged.',
  in: { object: { type: 'object', help: 'The object to copy. Empty: a new one.' } },
  out: { object: { type: 'object', help: 'The changed copy.' } },
  settings: {
    fields: {
      kind: 'names',
      help: 'Fields to set: each becomes a pin. An empty pin does not change its field.',
    },
    out_fields: {
      kind: 'names',
      help: 'Fields to read: each becomes an out-pin with its value in the changed copy.',
    },
  },
  moreIn: ({ fields }) => pinsNamed(fields, (name) => `The new value of ${name}.`),
  moreOut: ({ out_fields }) => pinsNamed(out_fields, (name) => `The value of ${name}.`),
  value({ object: source }, context) {
    const object = withNamedValues(source ?? {}, context.settings.fields, context)
    const read = context.settings.out_fields.map((name) => [name, valueAt(object, parseFieldPath(name))])
    return { ...Object.fromEntries(read), object }
  },
})
