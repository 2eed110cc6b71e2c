/** Drafts of applications: changed by an API key or a person, reviewed, pushed or taken back. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const reads = [
  'blueprints_view',
  'blueprintactions_view',
  'blueprintfields_view',
  'blueprinttemplates_view',
  'storages_view',
  'authentication_groups_view',
]
const drafting = [...reads, 'drafts_view', 'drafts_create', 'drafts_remove']

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin?.close())

/** A key of the administrator; gives what sends a request with it. */
async function keyWith(name: string, scopes: readonly string[]) {
  const made = objectOf(
    await quoin.manage('POST', '/users/me/keys', { name: fresh(name), scopes: [...scopes] }),
  )
  const headers = { authorization: `Bearer ${String(made.key)}` }
  return (method: 'GET' | 'POST' | 'DELETE', path: string, body?: JsonValue) =>
    quoin.send(method, path, { headers, ...(body !== undefined && { body }) })
}

const blueprint = (name: string, uri: string, value: JsonValue): string =>
  JSON.stringify({
    name,
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
    },
  })

const begun = (application: string, value: JsonValue = 'hello'): JsonObject => ({
  application,
  changes: [
    { path: 'quoin.json', text: JSON.stringify({ name: application }) },
    { path: 'blueprints/hello.json', text: blueprint(`${application} hello`, `${application}/hello`, value) },
  ],
})

/** A name that an earlier try of the test has not used. */
const fresh = (name: string) => `${name}_${Date.now().toString(36)}`

const pushAs = async (guid: string, state: JsonValue, words: JsonObject = {}) =>
  quoin.send('POST', `/_system/drafts/${guid}/push`, { as: 'admin', body: { state, ...words } })

test('what an agent drafts goes live when a person pushes it, under the name of the agent', async () => {
  const name = fresh('shop')
  const agent = await keyWith('first agent', drafting)
  const draft = await agent('POST', '/_system/drafts', begun(name))
  expect([draft.status, draft.body]).toMatchObject([
    200,
    { application: name, agent: expect.stringContaining('first agent'), author: { username: 'admin' } },
  ])
  const { guid } = objectOf(draft.body)
  expect((await quoin.send('GET', `/${name}/hello`)).status).toBe(404)
  expect((await agent('GET', `/_system/drafts/${guid}`)).body).toMatchObject({
    changes: ['created blueprints/hello.json'],
    problems: [],
    conflicts: [],
  })
  const plan = objectOf(await quoin.manage('POST', `/_system/drafts/${guid}/plan`))
  expect(plan).toMatchObject({ release: 1, refused: [] })
  const pushed = await pushAs(String(guid), plan.state ?? '', { move_waits: true, verify: { runs: 5 } })
  expect(pushed).toMatchObject({ status: 200, body: { moved_waits: 0, verified: [] } })
  expect(await quoin.send('GET', `/${name}/hello`)).toMatchObject({ status: 200, body: 'hello' })
  expect((await agent('GET', '/_system/drafts')).body).toEqual([])
  const logs = objectsOf(
    await quoin.manage('POST', '/_system/auditlogs', { filters: { category: 'applications' } }),
  )
  expect(logs[0]).toMatchObject({ name, after: { agent: expect.stringContaining('first agent') } })
})

test('an API key pushes a draft only with agents_deploy', async () => {
  const name = fresh('kiosk')
  const scopes = [...drafting, 'applications_update', 'blueprints_create', 'blueprints_update']
  const plain = await keyWith('plain', scopes)
  const { guid } = objectOf((await plain('POST', '/_system/drafts', begun(name))).body)
  const { state = '' } = objectOf((await plain('POST', `/_system/drafts/${guid}/plan`)).body)
  const refused = await plain('POST', `/_system/drafts/${guid}/push`, { state })
  expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('agents_deploy') } })
  expect((await quoin.send('GET', `/${name}/hello`)).status).toBe(404)
  const more = ['blueprintactions_create', 'blueprintactions_update', 'agents_deploy']
  const trusted = await keyWith('trusted', [...scopes, ...more])
  const own = objectOf((await trusted('POST', '/_system/drafts', begun(name))).body)
  const plan = objectOf((await trusted('POST', `/_system/drafts/${own.guid}/plan`)).body)
  const pushOwn = (words: JsonObject) =>
    trusted('POST', `/_system/drafts/${own.guid}/push`, { state: plan.state ?? '', ...words })
  for (const words of [{ move_waits: true }, { verify: { runs: 5 } }])
    expect((await pushOwn(words)).status).toBe(403)
  expect((await pushOwn({})).status).toBe(200)
  expect((await quoin.send('GET', `/${name}/hello`)).status).toBe(200)
})

test('what an agent changes behind the plan of a person is not pushed with it', async () => {
  const name = fresh('swap')
  const agent = await keyWith('swap', drafting)
  const { guid } = objectOf((await agent('POST', '/_system/drafts', begun(name))).body)
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${guid}/plan`))
  expect((await agent('POST', '/_system/drafts', begun(name, 'bye'))).status).toBe(200)
  const refused = await pushAs(String(guid), state)
  expect([refused.status, refused.body]).toMatchObject([
    409,
    { message: expect.stringContaining('The draft was changed') },
  ])
  expect((await quoin.send('GET', `/${name}/hello`)).status).toBe(404)
  const again = objectOf(await quoin.manage('POST', `/_system/drafts/${guid}/plan`))
  expect((await pushAs(String(guid), again.state ?? '')).status).toBe(200)
  expect((await quoin.send('GET', `/${name}/hello`)).body).toBe('bye')
})

test('what is changed while a draft is pushed stays a draft', async () => {
  const name = fresh('busy')
  const agent = await keyWith('busy', drafting)
  const { guid } = objectOf((await agent('POST', '/_system/drafts', begun(name))).body)
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${guid}/plan`))
  // Behind the push's look at the draft, and before its release.
  const { pushes } = quoin.quoin
  const push = pushes.push.bind(pushes)
  const meanwhile = vi.spyOn(pushes, 'push').mockImplementationOnce(async (...pushed) => {
    expect((await agent('POST', '/_system/drafts', begun(name, 'more'))).status).toBe(200)
    return push(...pushed)
  })
  expect((await pushAs(String(guid), state)).status).toBe(200)
  expect(meanwhile).toHaveBeenCalledTimes(1)
  expect((await quoin.send('GET', `/${name}/hello`)).body).toBe('hello')
  expect((await agent('GET', '/_system/drafts')).body).toMatchObject([{ guid }])
})

test('connections, alerts and queues are shown and changed with their scopes only', async () => {
  const name = fresh('secretive')
  const connections = JSON.stringify({ connections: { erp: { base_url: 'https://erp.internal.test' } } })
  const { application = '', changes } = begun(name)
  const own = [...(Array.isArray(changes) ? changes : []), { path: 'connections.json', text: connections }]
  const made = await quoin.send('POST', '/_system/drafts', {
    as: 'admin',
    body: { application, changes: own },
  })
  expect(made.status, made.text).toBe(200)
  const { guid } = objectOf(made.body)
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${guid}/plan`))
  expect((await pushAs(String(guid), state)).status).toBe(200)
  const agent = await keyWith('secretive', drafting)
  const seeing = await keyWith('seeing', [...drafting, 'connections_view'])
  const refused: JsonObject[] = [
    { path: 'connections.json', old: 'https://erp', new: 'https://erp' },
    { path: 'connections.json', text: '{}' },
    { path: 'connections.json', remove: true },
    { path: 'connections/erp.openapi.json', text: '{}' },
    { path: 'alerts.json', text: '{}' },
    { path: 'queues.json', text: '{}' },
  ]
  for (const change of refused) {
    const reply = await agent('POST', '/_system/drafts', { application, changes: [change] })
    expect([change, reply.status, reply.text]).toEqual([change, 403, expect.stringContaining('_view')])
  }
  const change = { path: 'tests/x.test.json', text: JSON.stringify({ name: 'x', steps: [] }) }
  for (const [key, shown] of [
    [agent, false],
    [seeing, true],
  ] as const) {
    const draft = objectOf((await key('POST', '/_system/drafts', { application, changes: [change] })).body)
    const read = await key('GET', `/_system/drafts/${draft.guid}`)
    expect([read.status, Object.hasOwn(objectOf(objectOf(read.body).files), 'connections.json')]).toEqual([
      200,
      shown,
    ])
    expect(read.text.includes('erp.internal.test')).toBe(shown)
    expect((await key('DELETE', `/_system/drafts/${draft.guid}`)).status).toBe(200)
  }
})

test('an API key neither sees nor changes drafts of others', async () => {
  const name = fresh('mine')
  const one = await keyWith('one', drafting)
  const other = await keyWith('other', drafting)
  const { guid } = objectOf((await one('POST', '/_system/drafts', begun(name))).body)
  expect((await other('GET', '/_system/drafts')).body).toEqual([])
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/plan'],
    ['DELETE', ''],
  ] as const)
    expect((await other(method, `/_system/drafts/${guid}${path}`)).status).toBe(404)
  await other('POST', '/_system/drafts', begun(name, 'theirs'))
  const { files } = objectOf((await one('GET', `/_system/drafts/${guid}`)).body)
  expect(String(objectOf(files)['blueprints/hello.json'])).toContain('"hello"')
})

test('removing a draft takes all of its changes back', async () => {
  const name = fresh('gone')
  const agent = await keyWith('removed', drafting)
  const { guid } = objectOf((await agent('POST', '/_system/drafts', begun(name))).body)
  expect(await quoin.send('DELETE', `/_system/drafts/${guid}`, { as: 'admin' })).toMatchObject({
    status: 200,
  })
  expect((await agent('GET', `/_system/drafts/${guid}`)).status).toBe(404)
  const next = objectOf((await agent('POST', '/_system/drafts', begun(name))).body)
  expect(next.guid).not.toBe(guid)
})

test('the changes of one request follow each other, also two hundred of one file', async () => {
  const name = fresh('many')
  const agent = await keyWith('many changes', drafting)
  const path = 'templates/a.css'
  const edit = async (changes: JsonObject[]) =>
    objectOf((await agent('POST', '/_system/drafts', { application: name, changes })).body)
  const steps = Array.from({ length: 199 }, (_one, at) => ({ path, old: `<${at}>`, new: `$&<${at + 1}>` }))
  const { guid } = await edit([{ path, text: '<0>' }, ...steps])
  const filesOf = async () => objectOf(objectOf((await agent('GET', `/_system/drafts/${guid}`)).body).files)
  expect((await filesOf())[path]).toBe(`${'$&'.repeat(199)}<199>`)
  await edit(Array.from({ length: 200 }, () => ({ path, remove: true })))
  expect(await filesOf()).not.toHaveProperty([path])
})

test('a file that the cluster changed meanwhile is a conflict and is not written over', async () => {
  const name = fresh('race')
  const agent = await keyWith('late', drafting)
  const release = async (value: JsonValue) => {
    const draft = objectOf(await quoin.manage('POST', '/_system/drafts', begun(name, value)))
    const plan = objectOf(await quoin.manage('POST', `/_system/drafts/${draft.guid}/plan`))
    expect((await pushAs(String(draft.guid), plan.state ?? '')).status).toBe(200)
  }
  await release('first')
  const part = { path: 'blueprints/hello.json', old: '"title"', new: '"title"' }
  expect((await agent('POST', '/_system/drafts', { application: name, changes: [part] })).status).toBe(400)
  const edit = { path: 'blueprints/hello.json', old: `${name} hello`, new: `${name} hallo` }
  const { guid } = objectOf(
    (await agent('POST', '/_system/drafts', { application: name, changes: [edit] })).body,
  )
  await release('second')
  expect((await agent('GET', `/_system/drafts/${guid}`)).body).toMatchObject({
    conflicts: ['blueprints/hello.json'],
  })
  const plan = await quoin.send('POST', `/_system/drafts/${guid}/plan`, { as: 'admin' })
  expect(plan).toMatchObject({ status: 409, body: { details: { conflicts: ['blueprints/hello.json'] } } })
})

test('problems of a draft name file, line and column, and keep it from being pushed', async () => {
  const name = fresh('broken')
  const agent = await keyWith('wrong', drafting)
  const changes = [
    { path: 'quoin.json', text: '{ "name": "another" }' },
    {
      path: 'blueprints/a.json',
      text: '{\n  "name": "A",\n  "blocks": { "x": { "type": "no_such_block" } }\n}',
    },
  ]
  const { guid } = objectOf((await agent('POST', '/_system/drafts', { application: name, changes })).body)
  const { problems } = objectOf((await agent('GET', `/_system/drafts/${guid}`)).body)
  expect(problems).toMatchObject([
    { file: 'quoin.json', message: expect.stringContaining(name) },
    { file: 'blueprints/a.json', line: 3, message: expect.stringContaining('no_such_block') },
  ])
  expect((await quoin.send('POST', `/_system/drafts/${guid}/plan`, { as: 'admin' })).status).toBe(409)
})

test.each([
  ['a path outside of the folder', { path: '../etc/passwd', text: '' }],
  ['a path with two folders', { path: 'a/b/c.json', text: '' }],
  ['text and remove', { path: 'quoin.json', text: '', remove: true }],
  ['a file that is too long', { path: 'blueprints/b.json', text: ' '.repeat(1024 * 1024 + 1) }],
  ['a part of a file that is not there', { path: 'blueprints/b.json', old: 'a', new: 'b' }],
  ['a part that the file has twice', { path: 'quoin.json', old: '"', new: '' }],
  ['a part that the file does not have', { path: 'quoin.json', old: 'nowhere', new: '' }],
])('%s is refused, and nothing is drafted', async (name, change) => {
  const agent = await keyWith(`bad ${name}`.slice(0, 40), drafting)
  const body = { application: 'refused', changes: [...objectsOf(begun('refused').changes), change] }
  expect((await agent('POST', '/_system/drafts', body)).status).toBe(400)
  expect((await agent('GET', '/_system/drafts')).body).toEqual([])
})

test('a draft of 3 MB is stored packed and read as it was sent; one from before is read too', async () => {
  const name = fresh('large')
  const css = '\n'.repeat(1_000_000)
  const paths = ['a', 'b', 'c'].map((file) => `templates/${file}.css`)
  let guid = ''
  for (const path of paths) {
    const body = { application: name, changes: [{ path, text: css }] }
    guid = String(objectOf((await quoin.send('POST', '/_system/drafts', { as: 'admin', body })).body).guid)
  }
  const filesOf = async () => objectOf(objectOf(await quoin.manage('GET', `/_system/drafts/${guid}`)).files)
  const files = await filesOf()
  expect(paths.map((path) => files[path] === css)).toEqual([true, true, true])
  const { database } = quoin.quoin
  const stored = await database.session().get(systemStorages.drafts, guid)
  expect(stored?.text.length).toBeLessThan(100_000)
  const session = database.session()
  const before = JSON.stringify({ 'templates/a.css': 'p {}', 'templates/b.css': null })
  await session.update(systemStorages.drafts, guid, setFields({ patch: before }))
  await session.transaction.commit()
  expect(await filesOf()).toEqual({ 'templates/a.css': 'p {}' })
})

/** A user of a group that each cluster begins with. */
async function memberOf(name: string, more: readonly string[] = []): Promise<string> {
  const groups = objectsOf(await quoin.manage('POST', '/_system/authentication-groups/search', {}))
  const group = objectOf(groups.find((each) => each.name === name))
  const username = fresh(`${name}${more.length}`)
  const body = { username, password: userPassword, groups: [guidOf(group)], custom_scopes: [...more] }
  await quoin.manage('POST', '/users', body)
  return username
}

test.each(['viewer', 'editor', 'operator'])('the group %s changes no draft', async (group) => {
  const as = await memberOf(group)
  const name = fresh('denied')
  expect((await quoin.send('POST', '/_system/drafts', { as, body: begun(name) })).status).toBe(403)
  const drafts = objectsOf(await quoin.manage('GET', '/_system/drafts'))
  expect(drafts.filter(({ application }) => application === name)).toEqual([])
})

test('the group viewer opens applications and drafts, but for those with groups', async () => {
  const as = await memberOf('viewer')
  const name = fresh('seen')
  const read = async (path: string) => (await quoin.send('GET', path, { as })).status
  const drafted = async (change: JsonObject) => {
    const changes = [...objectsOf(begun(name).changes), change]
    const draft = objectOf(await quoin.manage('POST', '/_system/drafts', { application: name, changes }))
    return `/_system/drafts/${String(draft.guid)}`
  }
  const push = async (draft: string) => {
    const { state = '' } = objectOf(await quoin.manage('POST', `${draft}/plan`))
    await quoin.manage('POST', `${draft}/push`, { state, allow_loss: true })
  }
  const contents = [
    `/_system/applications/${name}/content`,
    `/_system/applications/${name}/releases/1/content`,
  ]
  const plain = await drafted({ path: 'texts/en.json', text: '{}' })
  expect(await read(plain)).toBe(200)
  expect((await quoin.send('POST', `${plain}/plan`, { as })).status).toBe(200)
  await push(plain)
  expect(await Promise.all(contents.map(read))).toEqual([200, 200])
  const of = await quoin.send('GET', '/_system/applications?blueprint=none', { as })
  expect(of).toMatchObject({ status: 200, body: [] })

  const groups = JSON.stringify({ groups: { [name]: { scopes: [name] } } })
  const granting = await drafted({ path: 'groups.json', text: groups })
  expect([await read(granting), (await quoin.send('POST', `${granting}/plan`, { as })).status]).toEqual([
    403, 403,
  ])
  await push(granting)
  expect(await Promise.all(contents.map(read))).toEqual([403, 200])
  const removing = await drafted({ path: 'groups.json', remove: true })
  const { status, text } = await quoin.send('GET', removing, { as })
  expect([status, text]).toEqual([403, expect.stringContaining('authentication_groups_view')])
  await quoin.manage('DELETE', removing)
})

test('the group developer drafts, reads, plans and pushes, changes no group, and asks no model', async () => {
  const as = await memberOf('developer')
  const name = fresh('built')
  const draft = await quoin.send('POST', '/_system/drafts', { as, body: begun(name) })
  expect(draft.status, draft.text).toBe(200)
  const path = `/_system/drafts/${String(objectOf(draft.body).guid)}`
  expect(await quoin.send('GET', path, { as })).toMatchObject({ status: 200, body: { problems: [] } })
  const { state = '' } = objectOf((await quoin.send('POST', `${path}/plan`, { as })).body)
  const pushed = await quoin.send('POST', `${path}/push`, { as, body: { state } })
  expect(pushed.status, pushed.text).toBe(200)
  expect((await quoin.send('GET', `/${name}/hello`)).body).toBe('hello')

  const groups = { path: 'groups.json', text: JSON.stringify({ groups: { [name]: { scopes: ['*'] } } }) }
  const grants = { as, body: { application: name, changes: [groups] } }
  const granting = `/_system/drafts/${String(objectOf((await quoin.send('POST', '/_system/drafts', grants)).body).guid)}`
  const plan = await quoin.send('POST', `${granting}/plan`, { as })
  const body = { state: objectOf(plan.body).state ?? '' }
  const refused = await quoin.send('POST', `${granting}/push`, { as, body })
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('authentication_groups_create'),
  ])
  const search = { filters: { name } }
  expect(await quoin.manage('POST', '/_system/authentication-groups/search', search)).toEqual([])

  const describes = { application: name, text: 'A list of orders.' }
  const without = await quoin.send('POST', '/_system/assistant', { as, body: describes })
  expect([without.status, without.text]).toEqual([403, expect.stringContaining('assistant_use')])
  const asking = await memberOf('developer', ['assistant_use'])
  const off = await quoin.send('POST', '/_system/assistant', { as: asking, body: describes })
  expect([off.status, off.text]).toEqual([409, expect.stringContaining('QUOIN_ASSISTANT_CONNECTION')])
})

const mails = (says: string): JsonObject => ({
  name: `says ${says}`,
  text: `Mail ${says}`,
  kind: says.toLowerCase(),
  replies: [
    {
      to: 'POST https://model.example/v1/chat/completions',
      body: { choices: [{ message: { content: says }, finish_reason: 'stop' }] },
    },
  ],
})

/** A model sorts mails; `kind` is what is made of its answer. */
const sorter = (application: string, kind: string, tests: boolean): JsonObject => ({
  application,
  changes: [
    { path: 'quoin.json', text: JSON.stringify({ name: application }) },
    {
      path: 'blueprints/sorter.json',
      text: JSON.stringify({
        name: application,
        blocks: {
          mail: { type: 'on_startup_register_uri_post', in: { uri: application }, scopes: ['*public'] },
          ask: {
            type: 'ask_model',
            in: {
              flow: '@mail.flow',
              connection: 'MODEL',
              model: 'small',
              input: '=body.text',
            },
          },
          reply: { type: 'reply', in: { flow: '@ask.flow', value: `={ kind: ${kind} }` } },
        },
      }),
    },
    ...(tests
      ? [
          { path: 'tests/sorted.test.json', text: JSON.stringify(sorted(application)) },
          {
            path: 'tests/mails.ndjson',
            text: `${['bill', 'BILL'].map((one) => JSON.stringify(mails(one))).join('\n')}\n`,
          },
        ]
      : []),
  ],
})
const sorted = (application: string): JsonObject => ({
  name: 'Mails are sorted',
  given: { connections: [{ name: 'MODEL', base_url: 'https://model.example/v1' }] },
  cases: 'mails.ndjson',
  steps: [{ request: `POST /${application}`, body: { text: '{case.text}' }, expect: { status: 200 } }],
  score: '=value.kind == doc.kind',
  at_least: 0.9,
})

test('two releases are compared by the tests of one of them, without a word to the model', async () => {
  const name = fresh('sorter')
  const release = async (kind: string, tests: boolean) => {
    const draft = String(
      objectOf(await quoin.manage('POST', '/_system/drafts', sorter(name, kind, tests))).guid,
    )
    const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${draft}/plan`))
    expect((await pushAs(draft, state)).status).toBe(200)
  }
  await release('ask.answer', false)
  await release('lower(ask.answer)', true)
  const path = (number: number, query = '') => `/_system/applications/${name}/releases/${number}/test${query}`
  const post = (to: string, as = 'admin') => quoin.send('POST', to, { as })
  const reader = await memberOf('viewer')
  expect((await post(path(1, '?tests_of=2'), reader)).status).toBe(403)
  for (const [to, status] of [
    [path(1), 422],
    [path(3), 404],
    [path(1, '?tests_of=3'), 404],
    [path(1, '?tests_of=0'), 400],
    [path(1, '?releases=2'), 400],
  ] as const)
    expect([to, (await post(to)).status]).toEqual([to, status])

  const before = post(path(1, '?tests_of=2'))
  const at = await Promise.all([before, post(path(2))])
  expect(at.map(({ status }) => status).toSorted()).toEqual([200, 429])
  const [one, two] =
    at[0].status === 200 ? [at[0], await post(path(2))] : [await post(path(1, '?tests_of=2')), at[1]]
  const scores = (score: number, second: number) => ({
    status: 200,
    body: {
      passed: score === 1,
      results: [
        {
          name: 'Mails are sorted',
          score,
          cases: [
            { case: 'says bill', score: 1 },
            { case: 'says BILL', score: second },
          ],
        },
      ],
    },
  })
  expect(one).toMatchObject(scores(0.5, 0))
  expect(two).toMatchObject(scores(1, 1))
})
