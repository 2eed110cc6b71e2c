/** What the block "Write rows" writes, an import reads again: values of every type of field, and references by name. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isEmptyValue } from '../../src/shared/field-rule.ts'
import { XLSX } from '../../src/shared/files/file-types.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { valuesOfTypes } from '../values-of-types.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let place: AssetPlace
let quoin: TestQuoin
let address: string
const columns = ['maker', ...valuesOfTypes.map((_kind, at) => `f${at}`)]
const documents = (name: string) => `/_system/storages/${name}/documents`

beforeAll(async () => {
  place = await openAssetPlace()
  quoin = await openTestQuoin(place.settings)
  address = await quoin.quoin.server.listen()
  await quoin.manage('POST', '/_system/storages', { name: 'makers' })
  await quoin.manage('POST', '/blueprintfields', {
    name: 'name',
    type: 'string',
    unique: true,
    storage: 'makers',
  })
  for (const storage of ['written', 'read_xlsx', 'read_csv']) {
    await quoin.manage('POST', '/_system/storages', { name: storage })
    const reference = { storage: 'makers', on_delete: 'refuse' }
    await quoin.manage('POST', '/blueprintfields', { name: 'maker', type: 'reference', storage, reference })
    for (const [at, [field]] of valuesOfTypes.entries())
      await quoin.manage('POST', '/blueprintfields', { ...field, name: `f${at}`, storage })
  }
  const maker = guidOf(await quoin.manage('POST', documents('makers'), { name: 'Acme' }))
  // Nothing, a text of spaces and a list without items are all an empty cell.
  const values = valuesOfTypes.flatMap(([_field, all], at) =>
    all
      .filter((value) =>
        typeof value === 'object' ? !isEmptyValue(value) || !Array.isArray(value) : !isEmptyValue(value),
      )
      .map((value) => ({ [`f${at}`]: value, maker })),
  )
  for (const value of values) await quoin.manage('POST', documents('written'), value)
  await quoin.install('Tables', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'table' }, scopes: ['*public'] },
    write: {
      type: 'write_rows',
      in: {
        ...{ flow: '@post.flow', storage: 'written', sort: '_meta.cms', replace: true },
        ...{ columns: '=body.columns', name: '=body.name', references: '=body.references ?? "name"' },
      },
    },
    bytes: {
      type: 'read_file',
      in: { flow: '@write.flow', file: '@write.file' },
      fields: { encoding: 'base64' },
    },
    answer: { type: 'reply', in: { flow: '@bytes.flow', value: '=bytes.text' } },
  })
}, 120_000)
afterAll(async () => {
  await quoin?.close()
  await place?.close()
})

async function written(name: string, more: JsonObject = {}): Promise<Buffer> {
  const answer = await quoin.send('POST', '/table', { body: { name, columns, ...more } })
  expect(answer.status, answer.text).toBe(200)
  return Buffer.from(String(answer.body), 'base64')
}

const stored = async (name: string) =>
  objectsOf(
    await quoin.manage('POST', `${documents(name)}/search`, { limit: 1_000, sort: [{ '_meta.cms': 'asc' }] }),
  ).map(({ _meta, ...document }) => document)

test.each([
  ['xlsx', XLSX],
  ['csv', 'text/csv'],
])('documents of every type that are written as %s and imported are the same', async (ending, type) => {
  const file = await written(`all.${ending}`)
  const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}`, 'content-type': type }
  const answer = await fetch(`${address}/api/v1${documents(`read_${ending}`)}/import`, {
    ...{ method: 'POST', headers, body: Uint8Array.from(file) },
  })
  expect(await answer.json()).toEqual({ imported: (await stored('written')).length })
  expect(await stored(`read_${ending}`)).toEqual(await stored('written'))
})

test('references are written by their unique name, or by their guid where that is asked for', async () => {
  const lines = async (more: JsonObject) =>
    String(await written('makers.csv', { columns: ['maker'], ...more })).split('\r\n')
  const [first] = await stored('written')
  expect((await lines({}))[1]).toBe('Acme')
  expect((await lines({ references: 'guid' }))[1]).toBe(first?.maker)
})
