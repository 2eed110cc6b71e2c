import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'state_form_get',
  title: 'Values of form',
  words: '[{field} of ]form {form_id}',
  summary: 'Gives the submitted values of a form, in the flow at its submit. Empty elsewhere.',
  readsRun: true,
  fromRequest: true,
  in: {
    form_id: { type: 'value', required: true, help: 'Name of the form.' },
    field: { type: 'value', help: 'Field that value gives.' },
  },
  out: {
    values: { type: 'object', help: 'All values by field. Empty if another form was submitted.' },
    value: { type: 'any', help: 'The value of field.' },
  },
  settings: {},
  value({ form_id: requested, field }, { request }) {
    const submitted = request?.visit?.submitted
    if (submitted?.form !== requested) return {}
    const { values } = submitted
    if (field === undefined || field === '') return { values }
    const value = Object.hasOwn(values, field) ? values[field] : valueAt(values, parseFieldPath(field))
    return { values, value }
  },
})
