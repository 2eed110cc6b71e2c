/** A deploy warns of blocks whose addresses are read while the cluster has no address of its own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let uris = 0
const get = (): JsonObject => ({ type: 'on_startup_register_uri_get', in: { uri: `waits/${++uris}` } })
const approval: JsonObject = { type: 'wait_for_approval', in: { flow: '@get.flow', title: 'Order' } }
const webhook: JsonObject = { type: 'wait_for_webhook', in: { flow: '@get.flow' } }
const reported = (value: JsonValue): JsonObject => ({ type: 'reply', in: { flow: '@wait.now', value } })

const flows: [string, JsonObject, JsonValue, string | undefined][] = [
  ['the link of an approval', approval, '@wait.link_url', 'link_url'],
  ['the page of an approval in an expression', approval, '="See " + wait.page_url', 'page_url'],
  ['the address of a webhook', webhook, '@wait.url', 'url'],
  ['the path of an approval', approval, '@wait.page', undefined],
]

async function notesOf(quoin: TestQuoin, wait: JsonObject, value: JsonValue): Promise<JsonValue[]> {
  const guid = await quoin.install('waits', { get: get(), wait, told: reported(value) })
  const { notes } = objectOf(await quoin.manage('POST', `/blueprints/check/${guid}`))
  return objectsOf(notes)
    .filter(({ message }) => String(message).includes('QUOIN_PUBLIC_URL'))
    .map(({ pin, level }) => [pin ?? '', level ?? ''])
}

describe.each([
  ['without the setting', {}, true],
  ['with it', { QUOIN_PUBLIC_URL: 'https://shop.example' }, false],
])('%s', (_what, settings, warns) => {
  let quoin: TestQuoin
  beforeAll(async () => {
    quoin = await openTestQuoin(settings)
  })
  afterAll(() => quoin.close())

  test.each(flows)('%s', async (_pin, wait, value, pin) => {
    expect(await notesOf(quoin, wait, value)).toEqual(warns && pin !== undefined ? [[pin, 'warn']] : [])
  })
})
