/**
 * A file that came with a form of a page is held until its run has committed, replied or ended: what a killed process leaves is swept. Held
 * for longer, it would be swept although a document or a client has it.
 */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import type { JsonObject } from '../../shared/json.ts'

let fixture: TestQuoin
let outside: LocalServer
let origin: string
const waiting: ServerResponse[] = []

const create = (flow: string): JsonObject => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'letters', set: '={ scan: form.values.scan }' },
})

/** What the flow of the form does; `ask` waits for the server outside. */
const flows = (ask: (flow: string) => JsonObject): Readonly<Record<string, JsonObject>> => ({
  'asks-first': { ask: ask('@form.submit'), create: create('@ask.flow') },
  'writes-first': { create: create('@form.submit'), ask: ask('@create.flow') },
  'replies-first': {
    reply: { type: 'httpconnection_set_json', in: { flow: '@form.submit', value: '=form.values.scan.guid' } },
    ask: ask('@reply.flow'),
  },
  'only-asks': { ask: ask('@form.submit') },
})

beforeAll(async () => {
  outside = await startLocalServer((_request, response) => void waiting.push(response))
  fixture = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}` })
  origin = await fixture.quoin.server.listen()
  const ask = (flow: string): JsonObject => ({
    type: 'http_request',
    in: { flow, url: `${outside.url}/slow` },
  })
  for (const [url, flow] of Object.entries(flows(ask)))
    await fixture.install(url, {
      page: { type: 'state_page', in: { url, title: 'Letters' } },
      scan: { type: 'state_input_dynamic', in: { field: 'scan', type: 'file', required: true } },
      form: { type: 'state_form', in: { form_id: 'add', content: '@scan.state' } },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
      ...flow,
    })
})
afterAll(async () => {
  await fixture?.close()
  await outside?.close()
})

/** The run waits for the server outside. */
const asked = () => expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(1)

const held = async () => (await fixture.documents('_asset_files')).map(({ upload }) => upload)
const files = async () => objectsOf(await fixture.manage('POST', '/_system/assets/search', {}))

async function send(url: string): Promise<number> {
  const visitor = openVisitor(origin)
  const sent = await visitor.submit(await visitor.get(`/${url}`), 'add', { scan: new File(['1'], '1.txt') })
  return sent.status
}

test.each([
  ['asks-first', 1, 1],
  ['only-asks', 1, 0],
  ['writes-first', 0, 1],
])('a run that %s holds %i files while it asks, and none when it has ended', async (url, most, more) => {
  const before = [(await files()).length, (await fixture.documents('letters')).length]
  const sent = send(url)
  await asked()
  // What kill -9 would leave here: the record, and the note by which the sweep finds it.
  const made = (await files()).map((file) => guidOf(file)).filter((guid) => guid !== undefined)
  expect(made.length).toBe((before[0] ?? 0) + 1)
  expect((await held()).filter((upload) => !made.some((guid) => guid === upload))).toEqual([])
  expect((await held()).length).toBe(most)
  waiting.shift()?.end('{}')
  expect(await sent).toBe(303)
  expect(await held()).toEqual([])
  expect((await fixture.documents('letters')).length).toBe((before[1] ?? 0) + more)
})

test('a document that another writes with a file of a request under way is not noted as one of its documents', async () => {
  const letters = async () => (await fixture.documents('letters')).map((letter) => guidOf(letter))
  const [before, known] = [await letters(), (await files()).map((file) => guidOf(file))]
  const sent = send('asks-first')
  await asked()
  const [guid] = (await files()).map((file) => guidOf(file)).filter((one) => !known.includes(one))
  await fixture.manage('POST', '/_system/storages/letters/documents', { scan: { guid: guid ?? '' } })
  const [other] = (await letters()).filter((one) => !before.includes(one))
  waiting.shift()?.end('{}')
  expect(await sent).toBe(303)
  const own = (await letters()).filter((one) => !before.includes(one) && one !== other)
  const asset = (await fixture.documents('_assets')).find((one) => guidOf(one) === guid)
  expect([own.length, asset?.documents]).toEqual([1, own])
})

test('a run that has told the guid holds nothing, although it goes on', async () => {
  expect(await send('replies-first')).toBe(200)
  expect(await held()).toEqual([])
  await asked()
  waiting.shift()?.end('{}')
})
