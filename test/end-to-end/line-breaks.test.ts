/** Line breaks that a client sends, where they are no part of a text: 400 at every door, wherever the run has the text from. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { openVisitor } from '../page-visitor.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const scopes = ['*public']
const two = 'one\r\nBcc: all@example.com'
const note = (flow: string): JsonObject => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'notes', set: '={ name: body.name }' },
})
const mail = { type: 'send_mail', to: 'a@example.com', subject: 'x', text: 'x' }
/** Endpoints that take `{ name }`, by their address: the block in which it stands, what the block reads, and the pin that refuses. */
const doors: Readonly<Record<string, readonly [JsonObject, string]>> = {
  subject: [{ ...mail, subject: '=body.name' }, 'name'],
  template: [{ ...mail, subject: '="Order of " + body.name' }, 'name'],
  stored: [{ ...mail, subject: '=kept.document.name' }, 'subject'],
  to: [{ ...mail, to: '=kept.document.name + " <a@example.com>"' }, 'to'],
  from: [{ ...mail, from: '=kept.document.name + " <a@example.com>"' }, 'from'],
  cc: [{ ...mail, cc: '=[kept.document.name + " <a@example.com>"]' }, 'cc'],
  reply_to: [{ ...mail, reply_to: '=kept.document.name + "@example.com"' }, 'reply_to'],
  header: [
    { type: 'httpconnection_set_json', value: 'x', headers: '={ "x-name": kept.document.name }' },
    'headers',
  ],
  call: [
    {
      type: 'http_request',
      url: 'http://127.0.0.1:9/',
      headers: '={ cookie: "name=" + kept.document.name }',
    },
    'headers',
  ],
  channel: [{ type: 'publish', channel: '=kept.document.name', value: 'x' }, 'channel'],
  function: [{ type: 'function_custom_execute', function: 'tell', name: '=kept.document.name' }, 'subject'],
  parameter: [{ type: 'function_custom_execute', function: 'greet', name: '=kept.document.name' }, 'name'],
}

const redirecting: JsonObject = {
  to: { type: 'on_startup_register_uri_post', in: { uri: 'redirect' }, scopes },
  kept: note('@to.flow'),
  go: {
    type: 'reply',
    in: { flow: '@kept.flow', value: '="/" + kept.document.name' },
    fields: { kind: 'redirect' },
  },
}

const form: JsonObject = {
  page: { type: 'state_page', in: { url: 'contact' }, scopes },
  form: {
    type: 'state_form',
    in: {
      form_id: 'contact',
      inputs: [
        { field: 'name', type: 'text' },
        { field: 'line', type: 'line' },
      ],
    },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
  told: { ...fieldsIn({ ...mail, subject: '="Contact of " + form.values.name' }, '@form.submit') },
  done: { type: 'state_redirect', in: { flow: '@told.flow', url: '/contact' } },
}

const functions: JsonObject = {
  tell: { type: 'trigger_custom_function', fields: { name: 'tell' }, out: [{ id: 'name', type: 'value' }] },
  told: { ...fieldsIn({ ...mail, subject: '="From " + params.name' }, '@tell.flow') },
  greet: { type: 'trigger_custom_function', fields: { name: 'greet' }, out: [{ id: 'name', type: 'line' }] },
  greeted: { type: 'function_return', in: { flow: '@greet.flow', value: '@greet.name' } },
}

function fieldsIn({ type, function: called, ...pins }: JsonObject, flow: string): JsonObject {
  const added = type === 'function_custom_execute' && { fields: { parameters: ['name'] } }
  return {
    type: type ?? '',
    in: { flow, ...(called !== undefined && { function: called }), ...pins },
    ...added,
  }
}

let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.install('Functions', functions)
  for (const [uri, [block]] of Object.entries(doors)) {
    await quoin.install(uri, {
      ask: { type: 'on_startup_register_uri_post', in: { uri }, scopes },
      kept: note('@ask.flow'),
      used: fieldsIn(block, '@kept.flow'),
    })
  }
  await quoin.install('Redirect', redirecting)
  await quoin.install('Typed', {
    ask: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'typed' },
      fields: { schema: [{ name: 'name', type: 'line', required: true }] },
      scopes,
    },
    done: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: '@ask.name' } },
  })
  await quoin.install('Form', form)
  origin = await quoin.quoin.server.listen()
})
afterAll(() => quoin.close())

test.each(Object.entries(doors))('a line break in %s is 400', async (uri, [, pin]) => {
  const fits = await quoin.send('POST', `/${uri}`, { body: { name: 'ann' } })
  // No server listens at the address of the call.
  expect(fits.status < 300, fits.text).toBe(uri !== 'call')
  const answer = await quoin.send('POST', `/${uri}`, { body: { name: two } })
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(pin)])
})

test('what the run has stored before is undone, and the log names block and pin', async () => {
  const before = (await quoin.documents('notes')).length
  await quoin.send('POST', '/stored', { body: { name: two } })
  await quoin.send('POST', '/function', { body: { name: two } })
  expect(await quoin.documents('notes')).toHaveLength(before)
  const reported = (await quoin.systemLog()).filter(({ pin }) => pin === 'subject').slice(-2)
  expect(reported.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringContaining('The pin subject must be one line')],
    ['warn', expect.stringContaining('The pin subject must be one line')],
  ])
  for (const { block } of reported) expect(block).not.toBe('')
})

test('a redirect does not lead to two lines', async () => {
  expect((await quoin.send('POST', '/redirect', { body: { name: 'ann' } })).status).toBe(303)
  expect((await quoin.send('POST', '/redirect', { body: { name: two } })).status).toBe(400)
})

test('a schema has a word for one line, and the message names the field', async () => {
  expect((await quoin.send('POST', '/typed', { body: { name: 'ann' } })).status).toBe(200)
  const answer = await quoin.send('POST', '/typed', { body: { name: two } })
  expect([answer.status, isJsonObject(answer.body ?? null) && answer.text]).toEqual([
    400,
    expect.stringContaining('name must be one line without line breaks'),
  ])
  const document = await quoin.manage('GET', '/openapi.json')
  expect(JSON.stringify(document)).toContain('\\u2028')
})

test('a form renders one line, and refuses two beside the input', async () => {
  const visitor = openVisitor(origin)
  const page = await visitor.get('/contact')
  expect(page.form('contact').input('line')).toContain('type="text"')
  const refused = await visitor.submit(page, 'contact', { name: 'ann', line: two })
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Enter one line')])
  const failed = await visitor.submit(page, 'contact', { name: two, line: 'x' })
  expect([failed.status, failed.text]).toEqual([422, expect.stringContaining('must be one line')])
  expect(failed.form('contact').input('name')).toContain('aria-invalid')
  expect((await visitor.submit(page, 'contact', { name: 'ann', line: 'x' })).status).toBe(303)
})
