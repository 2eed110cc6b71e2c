/**
 * What visitors of a page send at once, when it decides by what was read what is written: each sees what came of the last try
 * of its run, and nothing of the tries before.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { openVisitor } from '../page-visitor.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const VISITORS = 12

let place: AssetPlace
let fixture: TestQuoin
let address: string
beforeAll(async () => {
  place = await openAssetPlace()
  fixture = await openTestQuoin({ ...place.settings, QUOIN_RATE_LIMIT: '0' })
  address = await fixture.quoin.server.listen()
})
afterAll(async () => {
  await fixture.close()
  await place.close()
})

/** A page on which each visitor counts the documents of a storage and stores the next number. */
const numbered = (storage: string, sent: string, parts: JsonObject): JsonObject => ({
  page: { type: 'state_page', in: { url: storage, title: 'Numbers' }, scopes: ['*public'] },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@sent.state' } },
  ...parts,
  all: { type: 'function_search', in: { flow: `@sent.${sent}`, storage } },
  next: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@all.flow', storage, set: '={ n: length(all.documents), photo: sent.values.photo }' },
  },
})

const everyNumber = Array.from({ length: VISITORS }, (_, n) => n)
const numbers = async (storage: string) =>
  (await fixture.documents(storage)).map(({ n }) => Number(n)).toSorted((a, b) => a - b)

test('a form with a file: each is stored once, and no file of a try that was undone stays', async () => {
  await fixture.install(
    'Form',
    numbered('forms', 'submit', {
      sent: { type: 'state_form', in: { form_id: 'f', inputs: [{ field: 'photo', type: 'file' }] } },
    }),
  )
  const statuses = await Promise.all(
    everyNumber.map(async (n) => {
      const visitor = openVisitor(address)
      const page = await visitor.get('/forms')
      const photo = new File([`photo ${n}`], `${n}.txt`, { type: 'text/plain' })
      return (await visitor.submit(page, 'f', { photo })).status
    }),
  )
  expect(statuses).toEqual(everyNumber.map(() => 303))
  expect(await numbers('forms')).toEqual(everyNumber)
  const stored = (await fixture.documents(systemStorages.assets)).map(({ name }) => String(name))
  expect(stored.toSorted()).toEqual(everyNumber.map((n) => `${n}.txt`).toSorted())
  expect(await place.files(fixture.directory)).toHaveLength(VISITORS)
})

test('a button: each click is done once', async () => {
  await fixture.install(
    'Button',
    numbered('buttons', 'click', { sent: { type: 'state_button', in: { label: 'Next', kind: 'action' } } }),
  )
  const statuses = await Promise.all(
    everyNumber.map(async () => {
      const visitor = openVisitor(address)
      return (await visitor.submit(await visitor.get('/buttons'), undefined, {}, { button: 'Next' })).status
    }),
  )
  expect(statuses).toEqual(everyNumber.map(() => 303))
  expect(await numbers('buttons')).toEqual(everyNumber)
})
