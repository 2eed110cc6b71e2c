import { defineValue } from '../block.ts'
import { mutationField, setField } from './field-mutation.ts'

export default defineValue({
  identifier: 'mutations_set_custom_field',
  title: 'Set custom field',
  summary: 'Sets one field of a document, whose name may come from a wire. For create and update blocks.',
  in: {
    mutations: { type: 'mutations', help: 'Mutations that come before this one.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field; a dot reaches into a nested object: customer.name.',
    },
    value: { type: 'any', help: 'What the field gets. Empty: the field stays as it is.' },
  },
  out: { mutations: { type: 'mutations', help: 'What came in, and then this change.' } },
  settings: {},
  value({ mutations = [], field, value }) {
    const name = mutationField(field)
    return { mutations: value === undefined ? mutations : [...mutations, setField(name, value)] }
  },
})
