import { defineValue } from '../block.ts'
import { mutationField, setField } from './document-writes.ts'

export default defineValue({
  identifier: 'mutations_set_custom_field',
  title: 'Set custom field',
  words: 'Set {field}[ to {value}]',
  summary: 'Sets one field of a document; its name may come from a wire. For create and update blocks.',
  in: {
    mutations: { type: 'mutations', help: 'Mutations that come before this one.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field; use dots for nested fields: customer.name.',
    },
    value: { type: 'any', help: 'New value of the field. Empty: no change.' },
  },
  out: { mutations: { type: 'mutations', help: 'The input mutations, followed by this one.' } },
  settings: {},
  value({ mutations = [], field, value }) {
    const name = mutationField(field)
    return { mutations: value === undefined ? mutations : [...mutations, setField(name, value)] }
  },
})
