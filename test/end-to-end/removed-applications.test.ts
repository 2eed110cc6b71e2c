/** An application is removed with a plan, all or nothing, and its name is free again. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { everything } from '../../src/applications/install-example.ts'
import { normalApplication } from '../../src/shared/application/application.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let base: string
beforeAll(async () => {
  fixture = await openTestQuoin()
  base = await fixture.quoin.server.listen()
  await fixture.addUser('planner', [
    'applications_update',
    'blueprints_view',
    'blueprintactions_view',
    'blueprintfields_view',
    'blueprinttemplates_view',
    'storages_view',
    'authentication_groups_view',
  ])
})
afterAll(() => fixture?.close())

let made = 0
/** A name of its own for each try. */
function fresh(word: string): string {
  made += 1
  return `${word}${made}`
}

async function push(about: JsonObject, objects: JsonObject): Promise<void> {
  const { applications } = fixture.quoin
  const by = everything({ guid: '', username: 'test' })
  const application = { ...normalApplication({ about, ...objects }) }
  const { state, refused } = await applications.plan(application, by)
  expect(refused).toEqual([])
  await applications.push(application, { state, allowLoss: false }, by)
}

async function pushShop(name: string): Promise<void> {
  await push(
    { name, offers: [`${name}_goods`] },
    {
      blueprints: {
        hello: {
          name: `${name} hello`,
          blocks: {
            on: { type: 'on_startup_register_uri_get', in: { uri: `${name}/hello` }, scopes: ['*public'] },
            reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'hello' } },
          },
        },
      },
      storages: { [`${name}_goods`]: { fields: { sku: { type: 'string', unique: true } } } },
      groups: { [`${name} staff`]: { scopes: [`${name}_sell`] } },
      templates: { frame: { name: `${name} frame`, content: { layout: 'side' } } },
      seed: { [`${name}_goods`]: { documents: [{ sku: 'A' }, { sku: 'B' }] } },
    },
  )
}

const run = async (...words: string[]) =>
  quoinCommand(
    ['uninstall', ...words, '--url', base],
    { QUOIN_TOKEN: await fixture.tokenOf('admin') },
    'no\n',
  )
const status = async (path: string) => (await fixture.send('GET', path)).status
const named = async (path: string, name: string) =>
  objectsOf(await fixture.manage('POST', `${path}/search`, { filters: { name } })).length

test('an application that there is not is 404, and a removal needs the scopes of each of its parts', async () => {
  expect((await fixture.send('GET', '/_system/applications/nothing/removal', { as: 'admin' })).status).toBe(
    404,
  )
  const name = fresh('guarded')
  await pushShop(name)
  const plan = objectOf(
    (await fixture.send('GET', `/_system/applications/${name}/removal`, { as: 'planner' })).body,
  )
  expect(String(plan.refused)).toContain('blueprints_remove')
  const body = { state: plan.state ?? '', allow_loss: true }
  const refused = await fixture.send('POST', `/_system/applications/${name}/remove`, { as: 'planner', body })
  expect(refused.status).toBe(409)
  expect(await status(`/${name}/hello`)).toBe(200)
})

test('documents are lost only with --allow-loss, and then nothing of the application is left', async () => {
  const name = fresh('shop')
  await pushShop(name)
  const refused = await run(name, '--yes')
  expect(refused.code).toBe(1)
  expect(refused.printed).toContain(`loses: storages/${name}_goods.json: 2 documents.`)
  const asked = await run(name, '--allow-loss')
  expect([asked.code, asked.complained]).toEqual([1, expect.stringContaining('Nothing was removed.')])
  expect(await status(`/${name}/hello`)).toBe(200)

  const removed = await run(name, '--allow-loss', '--yes')
  expect(removed).toMatchObject({ code: 0, complained: '' })
  expect(removed.printed).toContain(`removed the application ${name} and its releases`)
  expect(await status(`/${name}/hello`)).toBe(404)
  const left = await Promise.all([
    named('/blueprints', `${name} hello`),
    named('/_system/storages', `${name}_goods`),
    named('/_system/authentication-groups', `${name} staff`),
    named('/blueprinttemplates', `${name} frame`),
  ])
  expect(left).toEqual([0, 0, 0, 0])
  for (const storage of ['_releases', '_release_contents'])
    expect((await fixture.documents(storage)).filter(({ application }) => application === name)).toEqual([])
  const logs = objectsOf(
    await fixture.manage('POST', '/_system/auditlogs', {
      limit: 100,
      filters: { category: 'applications', name },
    }),
  )
  expect(logs.map(({ action }) => action)).toContain('deleted')

  await pushShop(name)
  expect(await fixture.manage('GET', `/_system/applications/${name}/releases`)).toMatchObject([{ number: 1 }])
  expect(await status(`/${name}/hello`)).toBe(200)
})

test('an application whose storage another one uses stays', async () => {
  const [name, other] = [fresh('offering'), fresh('using')]
  await pushShop(name)
  await push({ name: other, uses: [`${name}.${name}_goods`] }, {})
  const refused = await run(name, '--allow-loss', '--yes')
  expect(refused.code).toBe(1)
  expect(refused.printed).toContain(
    `refused: quoin.json: the application ${other} uses ${name}.${name}_goods`,
  )
  expect((await run(other, '--yes')).code).toBe(0)
  expect((await run(name, '--allow-loss', '--yes')).code).toBe(0)
})

test('a removal of a former state is refused and changes nothing', async () => {
  const name = fresh('changed')
  await pushShop(name)
  const { state } = objectOf(await fixture.manage('GET', `/_system/applications/${name}/removal`))
  const [group] = objectsOf(
    await fixture.manage('POST', '/_system/authentication-groups/search', {
      filters: { name: `${name} staff` },
    }),
  )
  await fixture.manage('PUT', `/_system/authentication-groups/${guidOf(group)}`, { description: 'Changed' })
  const late = await fixture.send('POST', `/_system/applications/${name}/remove`, {
    as: 'admin',
    body: { state: state ?? '', allow_loss: true },
  })
  expect(late.status).toBe(409)
  expect(late.text).toContain('Plan again')
  expect(await status(`/${name}/hello`)).toBe(200)
})

test('more releases than are listed go too, and the name can be used again', async () => {
  const name = fresh('old')
  const hello = (description: string) => ({ groups: { [name]: { description, scopes: [] } } })
  await push({ name }, hello('one'))
  await transact(fixture.quoin.database, async (session) => {
    for (let number = 2; number <= 1_101; number++)
      for (const storage of [systemStorages.releases, systemStorages.releaseContents])
        await session.create(storage, setFields({ application: name, number, content: '{}', steps: [] }))
  })
  const [newest] = await fixture.quoin.applications.releases(name)
  expect(newest?.number).toBe(1_101)
  expect((await run(name, '--allow-loss', '--yes')).code).toBe(0)
  for (const storage of ['_releases', '_release_contents'])
    expect((await fixture.documents(storage)).filter(({ application }) => application === name)).toEqual([])
  await push({ name }, hello('two'))
})

test('what fails behind the commit of a release is a problem of it, and the release is served', async () => {
  const name = fresh('served')
  await pushShop(name)
  const { applications, flows } = fixture.quoin
  const by = everything({ guid: '', username: 'test' })
  const fails = vi.spyOn(flows.texts, 'refresh').mockRejectedValueOnce(new Error('The disk is full.'))
  const kept = `${name}_kept`
  const application = {
    ...normalApplication({
      about: { name },
      blueprints: {
        hello: {
          name: `${name} hello`,
          blocks: {
            on: { type: 'on_startup_register_uri_get', in: { uri: `${name}/hi` }, scopes: ['*public'] },
            reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'hi' } },
          },
        },
      },
      storages: { [kept]: { history: true } },
    }),
  }
  const { state } = await applications.plan(application, by)
  try {
    const pushed = await applications.push(application, { state, allowLoss: true }, by)
    const problem = 'The release is live, and reading texts failed: internal error, see the system log.'
    expect(pushed).toMatchObject({ release: 2, problems: [problem] })
  } finally {
    fails.mockRestore()
  }
  const logged = await fixture.manage('POST', '/_system/systemlogs/search', {
    filters: { level: 'error' },
    sort: [{ '_meta.created': 'desc' }],
  })
  expect(objectsOf(logged)[0]?.message).toContain('The disk is full.')
  expect([await status(`/${name}/hi`), await status(`/${name}/hello`)]).toEqual([200, 404])
  const [storage] = objectsOf(
    await fixture.manage('POST', '/_system/storages/search', { filters: { name: kept } }),
  )
  const documents = `/_system/storages/${guidOf(storage ?? {})}/documents`
  const document = await fixture.manage('POST', documents, { title: 'A' })
  expect(await fixture.manage('GET', `${documents}/${guidOf(document)}/history`)).toMatchObject([{}])
})

test('the job that changes documents of a storage is gone with it, whatever fails behind the release', async () => {
  const name = fresh('jobless')
  await pushShop(name)
  const { jobs, queues } = fixture.quoin.database.capabilities
  await queues.configure('default', { paused: true })
  const fails = vi.spyOn(jobs, 'cancel').mockRejectedValue(new Error('The disk is full.'))
  try {
    const filters = { storage: `${name}_goods` }
    const [field] = objectsOf(await fixture.manage('POST', '/blueprintfields/search', { filters }))
    await fixture.manage('PUT', `/blueprintfields/${guidOf(field ?? {})}`, { name: 'code' })
    const waiting = async () => {
      const query = { filters: { status: 'waiting', type: 'change' } }
      const found = objectsOf(await fixture.manage('POST', '/queue/search', query))
      return found.filter(({ title }) => String(title).includes(`${name}_goods`)).length
    }
    expect(await waiting()).toBe(1)
    expect((await run(name, '--allow-loss', '--yes')).code).toBe(0)
    expect(await waiting()).toBe(0)
  } finally {
    fails.mockRestore()
    await queues.configure('default', { paused: false })
  }
})
