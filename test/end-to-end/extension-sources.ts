/** Blocks of extensions, and a blueprint that uses one, for `extensions.test.ts`. */
import type { JsonObject } from '../../src/shared/json.ts'

export const ledger = `
import { defineFlow } from 'quoin/extension'
import { dear } from '../lib/words.js'
export default defineFlow({
  identifier: 'ledger_book',
  title: 'Book',
  summary: 'Books what another server says of a customer.',
  in: { api: { type: 'http_connection', help: 'The server.' }, what: { type: 'object', help: 'What is done.' } },
  out: { result: { type: 'any', help: 'What came.' } },
  effects: { reads: true, writes: 'changes', calls: true },
  async run({ api, what }, { call, documents }) {
    const { step, words = [] } = what
    try {
      if (step === 'forgotten') {
        documents.create(...words)
        return { result: 'as if it were there' }
      }
      if (step === 'call') return { result: await call(api, ...words) }
      if (step !== 'all') return { result: (await documents[step](...words)) ?? null }
      const [customer] = await documents.search('customers', { where: { name: 'Ada' } })
      const [reply, same] = await Promise.all([call(api, { path: 'rates/' + customer.name }), documents.get('customers', customer._meta.guid)])
      const booked = await documents.create('bookings', { who: dear(same.name), rate: reply.body.rate })
      const changed = await documents.update('bookings', booked._meta.guid, { rate: booked.rate + 1 })
      return { result: { who: changed.who, rate: changed.rate, removed: await documents.remove('bookings', booked._meta.guid) } }
    } catch (error) {
      return { result: error.message }
    }
  },
})`

export const look = `
import { defineFlow } from 'quoin/extension'
export default defineFlow({
  identifier: 'ledger_look',
  title: 'Look',
  summary: 'Counts the customers.',
  in: {},
  out: { count: { type: 'number', help: 'How many.' } },
  effects: { reads: true },
  async run(_inputs, { documents }) {
    return { count: (await documents.search('customers')).length }
  },
})`

export const greeting = (type: string): JsonObject => ({
  ask: { type: 'on_startup_register_uri_get', in: { uri: 'greetings' }, scopes: ['*public'] },
  greet: { type, in: { flow: '@ask.flow', name: '=query.name' } },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@greet.flow', function: 'greet_later', name: '=query.name' },
    fields: { parameters: ['name'] },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', value: '@greet.greeting' } },
  empty: { type: 'httpconnection_set_json', in: { flow: '@greet.empty', value: 'empty', code: 400 } },
  greet_later: {
    type: 'trigger_custom_function',
    out: [{ id: 'name', type: 'value' }],
    fields: { name: 'greet_later' },
  },
  again: { type, in: { flow: '@greet_later.flow', name: '@greet_later.name' }, fields: { word: 'Later' } },
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@again.flow', storage: 'notes', set: '={ text: again.greeting }' },
  },
  page: { type: 'state_page', in: { url: 'greeted', title: 'Greeted' } },
  on_page: { type, in: { flow: '@page.flow', name: 'Page' } },
  text: { type: 'state_text', in: { text: '@on_page.greeting' } },
  show: { type: 'state_render_page', in: { flow: '@on_page.flow', state: '@text.state' } },
})
