/** What a deploy and a check say of fields of documents, as the fields are at that moment. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textAt } from '../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../test/management-server.ts'
import { savedBlocks } from '../../records/records.ts'
import type { JsonValue } from '../../shared/json.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
})
afterAll(() => fixture.close())

const builder = { guid: '', username: 'test' }
const by = { ...builder, mayTakeAccountPages: false, lacks: () => false }
const file = {
  name: 'Goods',
  blocks: {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] },
    row: { type: 'function_search_single_result', in: { flow: '@get.flow', storage: 'goods' } },
    reply: { type: 'reply', in: { flow: '@row.flow', value: '=row.document.pirce' } },
  },
}

async function sent(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) {
  const { status, body: reply } = await fixture.send(method, `/blueprintfields${path}`, 'admin', body)
  expect(status).toBeLessThan(300)
  return reply
}

test('fields that change without a deploy', async () => {
  const { deployments, records } = fixture.flows
  const guid = await installBlueprint(fixture.flows, file, builder)
  const check = async () => {
    const blocks = await savedBlocks(records, records.database.session(), guid)
    const { problems, notes } = await deployments.check(guid, blocks)
    expect(problems).toEqual([])
    return notes.map(({ message }) => message)
  }
  expect(await check()).toEqual([])

  const field = await sent('POST', '', { name: 'price', type: 'number', storage: 'goods' })
  const warning = expect.stringMatching(/^The storage goods has no field pirce: .* Did you mean price\?/)
  expect(await check()).toEqual([warning])
  const { warnings } = await deployments.deploy(guid, by)
  expect(warnings).toEqual([expect.objectContaining({ pin: 'value', column: 1, message: warning })])

  await sent('POST', '', { name: 'pirce', type: 'number', storage: 'goods' })
  expect(await check()).toEqual([])
  expect(await deployments.deploy(guid, by)).not.toHaveProperty('warnings')
  await sent('DELETE', `/${textAt(field, '_meta', 'guid')}`)
  expect(await check()).toEqual([])
})

test('a field that becomes a reference fails the check and the next deploy of what orders through it; what is active stays', async () => {
  const { deployments, records, live } = fixture.flows
  const blocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'visits' }, scopes: ['*public'] },
    rows: { type: 'function_search', in: { flow: '@get.flow', storage: 'visits', sort: 'guest.name' } },
    reply: { type: 'reply', in: { flow: '@rows.flow', value: '@rows.documents' } },
  }
  const guid = await installBlueprint(fixture.flows, { name: 'Visits', blocks }, builder)
  await records.database.ensure('guests')
  const reference = { storage: 'guests', on_delete: 'refuse' }
  await sent('POST', '', { name: 'guest', type: 'string', storage: 'visits', reference })
  const saved = await savedBlocks(records, records.database.session(), guid)
  const { problems, notes } = await deployments.check(guid, saved)
  const problem = { pin: 'sort', message: expect.stringContaining('guest refers to the storage guests') }
  expect(problems).toMatchObject([problem])
  expect(notes).toEqual([])
  await expect(deployments.deploy(guid, by)).rejects.toMatchObject({ problems: [problem] })
  expect(live.table().blueprints.get(guid)?.compiled.endpoints).toHaveLength(1)
})
