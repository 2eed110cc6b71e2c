import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'

let fixture: TestQuoin
let ada: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  ada = await fixture.addUser('ada', [])
  const blocks = (url: string) => ({
    page: { type: 'state_page', in: { url }, scopes: ['staff'] },
    show: { type: 'state_render_page', in: { flow: '@page.flow' } },
  })
  await fixture.install('Active', blocks('staff/{id}'))
  const guid = await fixture.install('Sleeping', blocks('sleeping'))
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
})
afterAll(() => fixture?.close())

const explain = async (body: { method: string; path: string; user?: string }) =>
  objectOf(await fixture.manage('POST', '/blueprints/explain', body))

test.each([
  ['an API path of that name', { method: 'GET', path: '/api/v1/staff/1' }, 'No blueprint registers'],
  ['a method that pages have not', { method: 'PUT', path: '/staff/1' }, 'No blueprint registers'],
  ['nobody', { method: 'GET', path: '/staff/1?a=b' }, 'is sent to sign in'],
  ['an inactive page', { method: 'POST', path: '/sleeping' }, 'which is not active'],
])('%s', async (_what, asked, reason) => {
  expect(await explain(asked)).toMatchObject({ reachable: false, reason: expect.stringContaining(reason) })
})

test('a user without the scope gets 403', async () => {
  const explained = await explain({ method: 'GET', path: '/staff/1', user: ada })
  expect(explained).toMatchObject({
    reachable: false,
    scopes: ['staff'],
    reason: expect.stringContaining('403'),
  })
})
