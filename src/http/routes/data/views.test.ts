/** Saved views: own ones are private, shared ones are seen by all, and changed by their author or a manager. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { matchAll } from '../../../shared/query.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let fixture: DocumentServer
let guid: string
let path: string
beforeAll(async () => {
  fixture = await openDocumentServer()
  for (const name of ['ann', 'bob']) await fixture.addUser(name, ['storages_view'])
  await fixture.addUser('manager', ['storages_view', 'storages_update'])
  await fixture.addUser('nobody', ['storages_update'])
  guid = await fixture.make('goods')
  path = `/_system/storages/${guid}/views`
})
afterAll(() => fixture.close())

const view = { name: 'Open', address: 'filter=state~is~open' }
const make = (as: string, body: JsonObject = view) => fixture.send('POST', path, as, { body })
const put = (id: string, as: string) => fixture.send('PUT', `${path}/${id}`, as, { body: { name: 'Other' } })
const names = async (as: string) =>
  objectsIn((await fixture.send('GET', path, as)).body ?? []).map(({ name }) => name)

describe('refused', () => {
  test.each<[string, string, JsonObject, number]>([
    ['', 'anonymous', view, 401],
    ['nobody', 'without the scope', view, 403],
    ['ann', 'no name', { ...view, name: ' ' }, 400],
    ['ann', 'too long', { ...view, address: 'x'.repeat(4_001) }, 400],
    ['ann', 'something else', { ...view, created_by: { guid: 'x', username: 'x' } }, 400],
  ])('%s: %s', async (as, _why, body, status) => {
    expect((await make(as, body)).status).toBe(status)
    expect(await fixture.database.session().count('_views', matchAll)).toBe(0)
  })

  test('of a storage that is not there', async () => {
    expect((await fixture.send('GET', '/_system/storages/_users/views', 'admin')).status).toBe(404)
  })
})

test('an own view is seen and changed by its author alone', async () => {
  const id = textAt((await make('ann')).body, '_meta', 'guid')
  expect([await names('ann'), await names('bob'), await names('manager')]).toEqual([['Open'], [], []])
  for (const as of ['bob', 'manager']) {
    expect((await put(id, as)).status).toBe(404)
    expect((await fixture.send('DELETE', `${path}/${id}`, as)).status).toBe(404)
  }
  expect((await put(id, 'ann')).body).toMatchObject({ name: 'Other', address: view.address, shared: false })
  expect((await fixture.send('DELETE', `${path}/${id}`, 'ann')).status).toBe(200)
  expect(await names('ann')).toEqual([])
})

test('a shared one is seen by all, and changed by its author and by managers', async () => {
  const id = textAt((await make('ann', { ...view, shared: true })).body, '_meta', 'guid')
  expect(await names('bob')).toEqual(['Open'])
  expect((await put(id, 'bob')).status).toBe(404)
  expect((await put(id, 'manager')).status).toBe(200)
  expect(await names('bob')).toEqual(['Other'])
  const other = await fixture.make('others')
  expect((await fixture.send('DELETE', `/_system/storages/${other}/views/${id}`, 'ann')).status).toBe(404)
})

test('a user has 50 of a storage; they go with it', async () => {
  for (let n = 0; n < 50; n += 1) expect((await make('bob')).status).toBe(200)
  expect((await make('bob')).body).toMatchObject({ error: 'CONFLICT' })
  expect((await make('ann')).status).toBe(200)
  expect((await fixture.send('DELETE', `/_system/storages/${guid}`, 'admin')).status).toBe(200)
  expect(await fixture.database.session().count('_views', matchAll, true)).toBe(0)
})
