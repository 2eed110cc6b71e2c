import { defineValue } from '../block.ts'
import { mutationField } from './document-writes.ts'

export default defineValue({
  identifier: 'mutations_increment_by_field',
  title: 'Increment field',
  words: 'Increment {field}[ by {amount}]',
  summary:
    'Adds to a number in a document, such as a counter or a stock. The change is atomic: simultaneous requests all count.',
  in: {
    mutations: { type: 'mutations', help: 'Mutations that come before this one.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field; use dots for nested fields. A missing field counts from 0.',
    },
    amount: { type: 'number', default: 1, help: 'The amount to add; a negative number subtracts.' },
  },
  out: { mutations: { type: 'mutations', help: 'The input mutations, followed by this one.' } },
  settings: {},
  value({ mutations = [], field, amount }) {
    return { mutations: [...mutations, { op: 'increment', field: mutationField(field), amount }] }
  },
})
