/** A file that came with a form of a page is held until its run has committed or ended: what a killed process leaves is swept. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { openVisitor } from '../../../test/page-visitor.ts'

let fixture: TestQuoin
let outside: LocalServer
let origin: string
const waiting: ServerResponse[] = []

beforeAll(async () => {
  outside = await startLocalServer((_request, response) => void waiting.push(response))
  fixture = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}` })
  origin = await fixture.quoin.server.listen()
  await fixture.install('Letters', {
    letters: { type: 'storage', fields: { storage: 'letters' } },
    page: { type: 'state_page', in: { url: 'letters', title: 'Letters' } },
    scan: { type: 'state_input_dynamic', in: { field: 'scan', type: 'file', required: true } },
    form: { type: 'state_form', in: { form_id: 'add', content: '@scan.state' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    ask: { type: 'http_request', in: { flow: '@form.submit', url: `${outside.url}/slow` } },
    fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@ask.flow', storage: '@letters.storage', mutations: '@fields.mutations' },
    },
  })
})
afterAll(async () => {
  await fixture?.close()
  await outside?.close()
})

test('a file of a form is held while its run is under way, and no longer', async () => {
  const held = async () => (await fixture.documents('_asset_files')).map(({ upload }) => upload)
  const visitor = openVisitor(origin)
  const sent = visitor.submit(await visitor.get('/letters'), 'add', { scan: new File(['1'], '1.txt') })
  await expect.poll(() => waiting.length).toBe(1)
  const [asset] = objectsOf(await fixture.manage('POST', '/_system/assets/search', {}))
  // What kill -9 would leave here: the record, and the note by which the sweep finds it.
  expect(await held()).toEqual([guidOf(asset ?? null)])
  waiting.shift()?.end('{}')
  expect((await sent).status).toBe(303)
  expect(await held()).toEqual([])
  expect((await fixture.documents('letters')).length).toBe(1)
})
