import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestAccess, type TestAccess } from '../../test/open-test-access.ts'
import { search } from '../shared/query.ts'
import type { Access } from './access.ts'

let fixture: TestAccess
beforeEach(async () => {
  fixture = await openTestAccess()
})
afterEach(() => fixture.close())

async function groups(access: Access = fixture.access) {
  const { records } = await access.searchGroups(search({ limit: 100 }))
  return records.map(({ name, scopes }) => [String(name), JSON.stringify(scopes)])
}
const names = async () => (await groups()).map(([name]) => name).toSorted()
const five = ['developer', 'editor', 'operator', 'owner', 'viewer']

test('a new cluster has five groups, also where nodes start together', async () => {
  const node = await fixture.otherNode()
  await Promise.all([fixture.access.ensureGroups(), node.ensureGroups(), fixture.access.ensureGroups()])
  expect(await names()).toEqual(five)
  await node.ensureGroups()
  expect(await names()).toEqual(five)
})

test('a cluster from before keeps its own group of such a name', async () => {
  await fixture.access.createGroup({ name: 'Editor', scopes: ['texts'] }, fixture.admin)
  await fixture.access.ensureGroups()
  expect(await names()).toEqual(['Editor', 'developer', 'operator', 'owner', 'viewer'])
  expect((await groups()).find(([name]) => name === 'Editor')).toEqual(['Editor', '["texts"]'])
})

test('a group that was removed or changed stays so', async () => {
  await fixture.access.ensureGroups()
  const { records } = await fixture.access.searchGroups(search({ limit: 100 }))
  for (const { name, _meta } of records) {
    const { guid } = JSON.parse(JSON.stringify(_meta))
    if (name === 'viewer') await fixture.access.removeGroup(guid, fixture.admin)
    if (name === 'editor') await fixture.access.updateGroup(guid, { scopes: [] }, fixture.admin)
  }
  await fixture.access.ensureGroups()
  expect(await names()).toEqual(['developer', 'editor', 'operator', 'owner'])
  expect((await groups()).find(([name]) => name === 'editor')).toEqual(['editor', '[]'])
})

test('users of a group do what its scopes say, and only an administrator adds an owner', async () => {
  await fixture.access.ensureGroups()
  const { records } = await fixture.access.searchGroups(search({ limit: 100 }))
  const guidOf = (requested: string) =>
    JSON.parse(JSON.stringify(records.find(({ name }) => name === requested)))._meta.guid
  await fixture.user({ groups: [guidOf('operator')], custom_scopes: ['users_create'] })
  const ada = await fixture.identity('ada')
  expect(ada.scopes.has('backups_create')).toBe(true)
  const create = (group: string) =>
    fixture.access.createUser(
      { username: group, password: 'correct horse battery', groups: [guidOf(group)] },
      ada,
    )
  await expect(create('owner')).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
  await expect(create('developer')).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
  await expect(create('operator')).resolves.toMatchObject({ username: 'operator' })
})
