/** Pins of the type `secret`: what they hold, what is said at a deploy, and what a run does with them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagementServer, openManagementServer } from '../../../test/management-server.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  for (const name of ['STRIPE', 'SLACK'])
    await fixture.send('POST', '/_system/secrets', 'admin', { name, value: `value of ${name}` })
})
afterAll(() => fixture.close())

const by = { guid: '', username: 'builder' }
let count = 0
function blocksWith(secret: unknown, more: JsonObject = {}): JsonObject {
  count += 1
  const input = JSON.parse(JSON.stringify({ secret, ...more }))
  return {
    take: { type: 'on_startup_register_uri_post', in: { uri: `signed-${count}` }, scopes: ['*public'] },
    check: { type: 'check_signature', in: { flow: '@take.flow', ...input }, fields: { sender: 'github' } },
    reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
  }
}
const install = (secret: unknown, more?: JsonObject) =>
  installBlueprint(fixture.flows, { name: `Signed ${count}`, blocks: blocksWith(secret, more) }, by)

test.each<[string, unknown, RegExp]>([
  ['a wire', '@take.body', /takes the name of a secret: no wire and no expression/],
  ['an expression', "='STRIPE'", /takes no expression/],
  ['a value of the environment', '=env.STRIPE', /takes no expression/],
  ['no name', 'sk_live_51.abc', /must be the name of a secret/],
  ['a number', 12, /must be the name of a secret/],
  ['nothing', undefined, /secret is needed/],
])('%s is refused at the deploy', async (_what, secret, message) => {
  const before = fixture.flows.live.table().version
  const refused = await install(secret).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(QuoinError)
  expect(JSON.stringify([String(refused), refused])).toMatch(message)
  expect(fixture.flows.live.table().version).toBe(before)
})

test('a secret that is not set is a warning, once, with the nearest name', async () => {
  const guid = await install('STRIP', { former_secret: 'STRIP' })
  expect(fixture.flows.live.table().blueprints.get(guid)?.compiled.notes).toMatchObject([
    {
      message: 'There is no secret STRIP: the block fails until it is set. Did you mean STRIPE?',
      level: 'warn',
    },
  ])
})

test('the list of secrets says which active blueprints use one', async () => {
  const guid = await install('SLACK')
  const users = async () => {
    const { body } = await fixture.send('POST', '/_system/secrets/search', 'admin', {
      filters: { name: 'SLACK' },
    })
    return body
  }
  expect(await users()).toMatchObject([{ name: 'SLACK', used_by: [{ guid, name: expect.any(String) }] }])
  await fixture.flows.deployments.deactivate(guid, by)
  expect(await users()).toMatchObject([{ used_by: [] }])
})

test('a run that needs a secret that is not set fails with 500, and the log says what to do', async () => {
  await install('GONE')
  const { status, text } = await fixture.send('POST', `/signed-${count}`, '', {})
  expect([status, text.includes('GONE')]).toEqual([500, false])
  await fixture.flows.log.flush()
  const stored = await fixture.database.session().find(systemStorages.systemLogs, search({ limit: 50 }))
  expect(JSON.stringify(stored.documents.value)).toContain(
    'names the secret GONE, which is not set. Set it: quoin secret set GONE',
  )
})
