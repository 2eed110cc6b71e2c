import { defineValue } from '../block.ts'
import { mutationField } from './field-mutation.ts'

export default defineValue({
  identifier: 'mutations_increment_by_field',
  title: 'Increment field',
  summary:
    'Adds to a number in a document, such as a counter or a stock. Requests at the same time all count: none is lost.',
  in: {
    mutations: { type: 'mutations', help: 'Mutations that come before this one.' },
    field: {
      type: 'value',
      required: true,
      help: 'Name of the field; a dot reaches into a nested object. A missing field counts from 0.',
    },
    amount: { type: 'number', default: 1, help: 'How much to add; a negative number takes away.' },
  },
  out: { mutations: { type: 'mutations', help: 'What came in, and then this change.' } },
  settings: {},
  value({ mutations = [], field, amount }) {
    return { mutations: [...mutations, { op: 'increment', field: mutationField(field), amount }] }
  },
})
