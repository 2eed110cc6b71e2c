import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_has_scope',
  title: 'Has scope',
  words: 'User has scope {scope}',
  summary:
    'Checks whether the caller holds a scope, to show or do more for some users. It does not protect an endpoint: set the scope on the trigger for that.',
  readsRun: true,
  in: { scope: { type: 'value', required: true, help: 'The name of the scope, such as crm_write.' } },
  out: {
    condition: {
      type: 'condition',
      help: 'True if the user holds it, directly or through a group. False without a request: in jobs and schedules.',
    },
  },
  settings: {},
  value({ scope }, { request }) {
    const held = request?.scopes
    return { condition: held !== undefined && (held.has('*') || held.has(scope.trim())) }
  },
})
