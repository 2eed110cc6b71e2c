/** Pushes that a second user must approve: who may, what is released then, and what ends one without a release. */
import { beforeAll, describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { openVisitor } from '../page-visitor.ts'
import { applicationsOfSuite } from './application-fixture.ts'
import { guidOf, objectsOf, type TestQuoin, userPassword } from './harness.ts'

const cluster = applicationsOfSuite({ QUOIN_RATE_LIMIT: '0', QUOIN_PUSH_APPROVAL: '*' })
let quoin: TestQuoin
const developer = [
  ...['applications_view', 'applications_update', 'blueprints_create', 'blueprints_update'],
  ...['blueprintactions_create', 'blueprintactions_update', 'storages_create', 'storages_update'],
  ...['blueprintfields_create', 'blueprintfields_update', 'applications_approve', 'settings_view'],
  ...['blueprints_view', 'blueprintactions_view', 'blueprintfields_view', 'blueprinttemplates_view'],
  ...['storages_view', 'authentication_groups_view'],
]
beforeAll(async () => {
  quoin = cluster.quoin
  await quoin.addUser('ann', developer)
  await quoin.addUser('ben', ['applications_view', 'applications_approve'])
  await quoin.addUser(
    'eve',
    developer.filter((scope) => scope !== 'applications_approve'),
  )
})

let made = 0
const fresh = () => `pending${made++}`

const blueprint = (name: string, reply: string): JsonObject => ({
  name,
  blocks: {
    ask: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
    answer: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: `="${reply}"` } },
  },
})

const application = (name: string, reply: string, fields: JsonObject = { title: { type: 'string' } }) => ({
  about: { name },
  blueprints: { hello: blueprint(name, reply) },
  storages: { [name]: { fields } },
  ...{ groups: {}, templates: {}, seed: {}, tests: {} },
})

const pushes = '/_system/pushes'
async function pushed(content: JsonObject, as = 'ann', allowLoss = false) {
  const plan = objectIn(
    (await quoin.send('POST', '/_system/applications/plan', { as, body: { application: content } })).body,
  )
  const body = { application: content, state: plan.state ?? '', allow_loss: allowLoss }
  const sent = await quoin.send('POST', '/_system/applications/push', { as, body })
  const waiting = objectIn(objectIn(sent.body).waiting)
  return { ...sent, body, guid: String(waiting.guid), state: String(objectIn(waiting.plan).state), waiting }
}
const objectIn = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const approve = (guid: string, state: string, as = 'ben') =>
  quoin.send('POST', `${pushes}/${guid}/approve`, { as, body: { state } })
const pushAt = async (guid: string) =>
  objectIn((await quoin.send('GET', `${pushes}/${guid}`, { as: 'ben' })).body)
const said = async (name: string) => {
  const { status, body } = await quoin.send('GET', `/${name}`)
  return status === 200 ? body : status
}
const mark = (guid: string, fields: JsonObject) =>
  transact(quoin.quoin.database, (session) => session.update(systemStorages.pushes, guid, setFields(fields)))

describe('refused', () => {
  test('its author, also by a key, a user without the scope, another plan, and a push that is not there', async () => {
    const name = fresh()
    const { guid, state } = await pushed(application(name, 'one'))
    const key = objectIn(
      (
        await quoin.send('POST', '/users/me/keys', {
          as: 'ben',
          body: { name, scopes: ['applications_view', 'applications_approve'] },
        })
      ).body,
    )
    const byKey = await quoin.send('POST', `${pushes}/${guid}/approve`, {
      headers: { authorization: `Bearer ${String(key.key)}` },
      body: { state },
    })
    expect([byKey.status, objectIn(byKey.body).message]).toEqual([
      403,
      'An API key decides no push. Sign in as a user.',
    ])
    for (const [as, sent, status] of [
      ['ann', state, 403],
      ['eve', state, 403],
      ['ben', 'another', 409],
    ] as const)
      expect([as, (await approve(guid, sent, as)).status]).toEqual([as, status])
    expect((await quoin.send('POST', `${pushes}/${guid}/approve`, { body: { state } })).status).toBe(401)
    expect((await approve('nothing', state)).status).toBe(404)
    expect((await quoin.send('POST', `${pushes}/${guid}/reject`, { as: 'ann' })).status).toBe(403)
    expect((await quoin.send('POST', `${pushes}/${guid}/withdraw`, { as: 'eve' })).status).toBe(403)
    expect([(await pushAt(guid)).status, await said(name)]).toEqual(['waiting', 404])
  })

  test('a cluster that was changed since the plan: the push is over, and nothing is released', async () => {
    const name = fresh()
    const first = await pushed(application(name, 'one'))
    await approve(first.guid, first.state)
    const { guid, state } = await pushed(application(name, 'two'))
    const [found] = objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name } }))
    await quoin.manage('PUT', `/blueprints/${String(objectIn(found?._meta).guid)}`, {
      description: 'Changed in the studio.',
    })
    const refused = await approve(guid, state)
    expect([refused.status, objectIn(refused.body).message]).toEqual([
      409,
      expect.stringContaining('The cluster was changed since ann pushed.'),
    ])
    expect([(await pushAt(guid)).status, await said(name)]).toEqual(['outdated', 'one'])
    expect((await approve(guid, state)).status).toBe(409)
  })

  test('values of what a reader of the plan may not see, and all of them in lists', async () => {
    const name = fresh()
    const content = (base_url: string, reply: string) => ({
      ...application(name, reply),
      connections: { [name]: { base_url } },
    })
    const first = await pushed(content('https://one.example', 'one'), 'admin')
    await approve(first.guid, first.state)
    const next = content('https://two.example', 'two')
    const plan = await quoin.send('POST', '/_system/applications/plan', {
      as: 'ann',
      body: { application: next },
    })
    const reply = {
      step: 'changed blueprints/hello.json: block answer changed',
      lines: [{ what: 'block answer, in › value', before: '“="one"”', after: '“="two"”' }],
      is_cut: false,
    }
    const connection = {
      step: `changed connections.json: ${name}: setting base_url changed`,
      lines: [{ what: 'setting base_url', before: '“https://one.example”', after: '“https://two.example”' }],
      is_cut: false,
    }
    expect([objectIn(plan.body).steps, objectIn(plan.body).values]).toEqual([
      [connection.step, reply.step],
      [reply],
    ])
    const { guid } = await pushed(next, 'admin')
    const valuesFor = async (as: string) =>
      objectIn(objectIn((await quoin.send('GET', `${pushes}/${guid}`, { as })).body).plan).values
    expect(await Promise.all(['ben', 'ann', 'admin'].map(valuesFor))).toEqual([
      [],
      [reply],
      [connection, reply],
    ])
    const listed = objectsOf((await quoin.send('GET', pushes, { as: 'admin' })).body)
    expect(listed.map(({ plan: one }) => objectIn(one).values)).toEqual(listed.map(() => []))
  })

  test('what is rejected, withdrawn or expired', async () => {
    const name = fresh()
    const first = await pushed(application(name, 'one'))
    const rejected = await quoin.send('POST', `${pushes}/${first.guid}/reject`, {
      as: 'ben',
      body: { comment: 'Not today.' },
    })
    expect(rejected.body).toMatchObject({
      status: 'rejected',
      comment: 'Not today.',
      decided_by: { username: 'ben' },
    })
    const second = await pushed(application(name, 'one'))
    expect(second.guid).not.toBe(first.guid)
    const withdrawn = await quoin.send('POST', `${pushes}/${second.guid}/withdraw`, { as: 'ann' })
    expect(withdrawn.body).toMatchObject({ status: 'withdrawn' })
    const third = await pushed(application(name, 'one'))
    quoin.advance(3 * 24 * 60 * 60 * 1000)
    for (const { guid, state } of [first, second, third])
      expect((await approve(guid, state)).status).toBe(409)
    expect([(await pushAt(third.guid)).status, await said(name)]).toEqual(['expired', 404])
    // It does not stand in the way of the next.
    expect((await pushed(application(name, 'one'))).guid).not.toBe(third.guid)
  })

  test('scopes that the author has lost since, and an author who is not active', async () => {
    const name = fresh()
    const guid = await quoin.addUser(name, developer)
    const push = await pushed(application(name, 'one'), name)
    await quoin.manage('PUT', `/users/${guid}`, {
      custom_scopes: ['applications_view', 'applications_update'],
    })
    const lacking = await approve(push.guid, push.state)
    expect([lacking.status, objectIn(lacking.body).message]).toEqual([
      409,
      expect.stringContaining('You lack the scope'),
    ])
    await quoin.manage('PUT', `/users/${guid}`, { custom_scopes: developer, is_active: false })
    expect(objectIn((await approve(push.guid, push.state)).body).message).toContain('is not active any more')
    expect([(await pushAt(push.guid)).status, await said(name)]).toEqual(['waiting', 404])
    // Approved before, it can still be ended by others.
    await mark(push.guid, { status: 'approved' })
    expect((await approve(push.guid, push.state)).status).toBe(409)
    const rejected = await quoin.send('POST', `${pushes}/${push.guid}/reject`, { as: 'ben' })
    expect([rejected.status, (await approve(push.guid, push.state)).status]).toEqual([200, 409])
    expect([(await pushAt(push.guid)).status, await said(name)]).toEqual(['rejected', 404])
  })

  test('what is approved is withdrawn by its author, expires, and is not rejected once it is released', async () => {
    const name = fresh()
    const first = await pushed(application(name, 'one'))
    await mark(first.guid, { status: 'approved' })
    expect((await quoin.send('POST', `${pushes}/${first.guid}/withdraw`, { as: 'ann' })).body).toMatchObject({
      status: 'withdrawn',
    })
    const second = await pushed(application(name, 'one'))
    await mark(second.guid, { status: 'approved' })
    quoin.advance(3 * 24 * 60 * 60 * 1000)
    expect((await pushAt(second.guid)).status).toBe('expired')
    expect((await approve(second.guid, second.state)).status).toBe(409)
    expect(await said(name)).toBe(404)
    const third = await pushed(application(name, 'one'))
    expect((await approve(third.guid, third.state)).status).toBe(200)
    // A node was killed between the release and its note.
    await mark(third.guid, { status: 'approved' })
    expect((await quoin.send('POST', `${pushes}/${third.guid}/reject`, { as: 'ben' })).status).toBe(409)
    expect([(await pushAt(third.guid)).status, await said(name)]).toEqual(['released', 'one'])
  })
})

test('a push waits, is a task of others, and is released by the approval, once', async () => {
  const name = fresh()
  const content = application(name, 'one')
  const { status, waiting, guid, state, body } = await pushed(content)
  expect([status, waiting]).toEqual([
    202,
    expect.objectContaining({
      status: 'waiting',
      release: 1,
      by: expect.objectContaining({ username: 'ann' }),
    }),
  ])
  expect(await said(name)).toBe(404)
  // The same push once more is the same one.
  const again = await quoin.send('POST', '/_system/applications/push', { as: 'ann', body })
  expect([again.status, objectIn(objectIn(again.body).waiting).guid]).toEqual([202, guid])
  const tasksOf = async (as: string) => {
    const { body: tasks, headers } = await quoin.send('GET', '/users/me/tasks?limit=200', { as })
    return [objectsOf(tasks).filter((one) => one.guid === guid).length, Number(headers['x-total-count']) > 0]
  }
  expect([await tasksOf('ben'), await tasksOf('ann'), await tasksOf('eve')]).toEqual([
    [1, true],
    [0, expect.anything()],
    [0, false],
  ])
  const visitor = openVisitor(cluster.base)
  await visitor.submit(await visitor.get('/login'), 'signin', { username: 'ben', password: userPassword })
  const home = await visitor.get('/')
  expect(home.html).toContain(`/studio/blueprints/applications/pushes/${guid}`)
  expect((await quoin.send('GET', `${pushes}/${guid}/content`, { as: 'ann' })).body).toMatchObject({
    about: { name },
  })
  expect((await quoin.send('GET', `${pushes}/${guid}/content`, { as: 'ben' })).status).toBe(403)

  const released = await approve(guid, state)
  expect([released.status, released.body]).toEqual([
    200,
    expect.objectContaining({ release: 1, problems: [] }),
  ])
  expect([await said(name), (await pushAt(guid)).status, await tasksOf('ben')]).toEqual([
    'one',
    'released',
    [0, expect.anything()],
  ])
  // Both requests that follow find it done.
  expect((await approve(guid, state)).status).toBe(200)
  const releases = objectsOf(await quoin.manage('GET', `/_system/applications/${name}/releases`))
  expect(releases.map((one) => objectIn(one.by).username)).toEqual(['ann'])
  const audit = objectsOf(
    await quoin.manage('POST', '/_system/auditlogs', {
      filters: { category: 'applications', name },
      limit: 50,
    }),
  )
  expect(audit.map((one) => objectIn(one.after).push ?? objectIn(one.after).approved_by).toSorted()).toEqual([
    ...['approved', 'ben', 'released', 'waiting'],
  ])
})

test('a node that was killed between approval and release, or behind the release, leaves what the next request ends', async () => {
  const name = fresh()
  const first = await pushed(application(name, 'one'))
  const by = { guid: 'someone', username: 'ben' }
  await mark(first.guid, { status: 'approved', decided_by: by })
  expect((await approve(first.guid, first.state)).status).toBe(200)
  expect(await said(name)).toBe('one')
  await mark(first.guid, { status: 'approved' })
  expect((await approve(first.guid, first.state)).status).toBe(200)
  expect([(await pushAt(first.guid)).status, await said(name)]).toEqual(['released', 'one'])
  const second = await pushed(application(name, 'two'))
  await mark(second.guid, { status: 'approved', decided_by: by })
  // Here it is the author who sends it again.
  const again = await quoin.send('POST', '/_system/applications/push', { as: 'ann', body: second.body })
  expect([again.status, await said(name)]).toEqual([200, 'two'])
  expect(objectsOf(await quoin.manage('GET', `/_system/applications/${name}/releases`)).length).toBe(2)
})

test('a draft goes with its release, and what was changed since the push stays a draft', async () => {
  await quoin.addUser('dan', [...developer, 'drafts_view', 'drafts_create'])
  const drafts = '/_system/drafts'
  const edited = async (name: string, reply: string) => {
    const changes = [
      { path: 'quoin.json', text: JSON.stringify({ name }) },
      { path: 'blueprints/hello.json', text: JSON.stringify(blueprint(name, reply)) },
    ]
    const sent = await quoin.send('POST', drafts, { as: 'dan', body: { application: name, changes } })
    return String(objectIn(sent.body).guid)
  }
  const approved = async (name: string, meanwhile: () => Promise<unknown>, before = false) => {
    const guid = await edited(name, 'one')
    // From a folder first: it waits once, and the draft goes with it.
    const folder = { ...application(name, 'one'), storages: {} }
    if (before) expect((await pushed(folder, 'dan')).status).toBe(202)
    const plan = objectIn((await quoin.send('POST', `${drafts}/${guid}/plan`, { as: 'dan' })).body)
    const body = { state: plan.state ?? '' }
    const sent = await quoin.send('POST', `${drafts}/${guid}/push`, { as: 'dan', body })
    expect([sent.status, (await quoin.send('GET', `${drafts}/${guid}`, { as: 'dan' })).status]).toEqual([
      202, 200,
    ])
    await meanwhile()
    const waiting = objectIn(objectIn(sent.body).waiting)
    const state = String(objectIn(waiting.plan).state)
    expect((await approve(String(waiting.guid), state)).status).toBe(200)
    return [await said(name), (await quoin.send('GET', `${drafts}/${guid}`, { as: 'dan' })).status]
  }
  const [one, other, folder] = [fresh(), fresh(), fresh()]
  expect(await approved(one, async () => undefined)).toEqual(['one', 404])
  expect(await approved(folder, async () => undefined, true)).toEqual(['one', 404])
  const all = objectsOf(await quoin.manage('GET', '/_system/pushes'))
  expect(all.filter((push) => push.application === folder).length).toBe(1)
  expect(await approved(other, () => edited(other, 'two'))).toEqual(['one', 200])
})

test('two approvals at once make one release', async () => {
  const name = fresh()
  const { guid, state } = await pushed(application(name, 'one'))
  await quoin.addUser(`${name}b`, ['applications_view', 'applications_approve'])
  const both = await Promise.all([approve(guid, state), approve(guid, state, `${name}b`)])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(objectsOf(await quoin.manage('GET', `/_system/applications/${name}/releases`)).length).toBe(1)
})

test('the same push sent twice at once is one', async () => {
  const content = application(fresh(), 'one')
  const plan = objectIn(
    (await quoin.send('POST', '/_system/applications/plan', { as: 'ann', body: { application: content } }))
      .body,
  )
  const body = { application: content, state: plan.state ?? '' }
  const push = () => quoin.send('POST', '/_system/applications/push', { as: 'ann', body })
  const both = await Promise.all([push(), push()])
  const guids = both.map((sent) => String(objectIn(objectIn(sent.body).waiting).guid))
  expect(both.map(({ status }) => status)).toEqual([202, 202])
  expect(guids[1]).toBe(guids[0])
  const [guid = ''] = guids
  expect((await approve(guid, String(plan.state))).status).toBe(200)
})

test.each([
  ['rejected', 'ben'],
  ['withdrawn', 'ann'],
])('a push that is %s while its author sends it again is not released', async (status, username) => {
  const name = fresh()
  const { guid, body } = await pushed(application(name, 'one'))
  const by = { guid: 'someone', username }
  await mark(guid, { status: 'approved', decided_by: by })
  const again = await quoin.quoin.database.capabilities.withClusterLock(`push ${guid}`, async () => {
    const sent = quoin.send('POST', '/_system/applications/push', { as: 'ann', body })
    // Long enough to find the push approved, and to wait for its turn.
    for (let looks = 0; looks < 20; looks++) await pushAt(guid)
    await mark(guid, { status, decided_by: by })
    return { sent }
  })
  expect(await again.sent).toMatchObject({ status: 409, body: { message: expect.stringContaining(status) } })
  expect([(await pushAt(guid)).status, await said(name)]).toEqual([status, 404])
})

test('a renamed field is copied behind the approval', async () => {
  const name = fresh()
  const first = await pushed(application(name, 'one'))
  await approve(first.guid, first.state)
  const [storage] = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
  const documents = `/_system/storages/${guidOf(storage ?? {})}/documents`
  await quoin.manage('POST', documents, { title: 'A' })
  const { guid, state } = await pushed(
    application(name, 'two', { subject: { was: 'title', type: 'string' } }),
  )
  await expect.poll(async () => (await approve(guid, state)).status, { timeout: 20_000 }).toBe(200)
  expect(await said(name)).toBe('two')
})

test('a removal waits too', async () => {
  const name = fresh()
  const first = await pushed(application(name, 'two'))
  await approve(first.guid, first.state)
  const plan = objectIn(await quoin.manage('GET', `/_system/applications/${name}/removal`))
  const body = { state: plan.state ?? '', allow_loss: true }
  // A folder without anything is no removal, though both say the same.
  const nothing = { blueprints: {}, storages: {}, groups: {}, templates: {}, seed: {}, tests: {} }
  const emptied = await pushed({ about: { name }, ...nothing }, 'admin', true)
  expect([emptied.status, emptied.waiting.is_removal, emptied.body.state]).toEqual([202, false, body.state])
  const removal = await quoin.send('POST', `/_system/applications/${name}/remove`, { as: 'admin', body })
  const waiting = objectIn(objectIn(removal.body).waiting)
  expect([removal.status, objectIn(removal.body).message, waiting.is_removal, await said(name)]).toEqual([
    202,
    undefined,
    true,
    'two',
  ])
  expect((await approve(String(waiting.guid), String(body.state))).status).toBe(200)
  expect([await said(name), (await pushAt(String(waiting.guid))).status]).toEqual([404, 'released'])
})

test('what was removed since is pushed and removed again, and no old release is answered', async () => {
  const name = fresh()
  const content = application(name, 'two')
  const states: JsonValue[] = []
  for (const round of [1, 2]) {
    const first = await pushed(content)
    states.push(first.body.state)
    expect([round, first.status, objectIn(first.waiting).status]).toEqual([round, 202, 'waiting'])
    // Sent again, it is the same one.
    expect((await pushed(content)).guid).toBe(first.guid)
    expect((await approve(first.guid, first.state)).status).toBe(200)
    expect(await said(name)).toBe('two')
    const repeated = await quoin.send('POST', '/_system/applications/push', { as: 'ann', body: first.body })
    expect(repeated.status).toBe(200)
    const { state = '' } = objectIn(await quoin.manage('GET', `/_system/applications/${name}/removal`))
    const body = { state, allow_loss: true }
    const remove = () => quoin.send('POST', `/_system/applications/${name}/remove`, { as: 'admin', body })
    const { guid, is_removal } = objectIn(objectIn((await remove()).body).waiting)
    expect([is_removal, await said(name)]).toEqual([true, 'two'])
    // The node was killed between approval and removal: the next request ends it.
    await mark(String(guid), { status: 'approved', decided_by: { guid: 'someone', username: 'ben' } })
    expect([(await remove()).status, await said(name)]).toEqual([200, 404])
  }
  // Control: the plans say the same.
  expect(states[1]).toBe(states[0])
})

test('commands: a push exits with 3, others approve or reject it, and --wait says what became live', async () => {
  const name = fresh()
  const folderOf = (reply: string) =>
    cluster.folderOf({ 'quoin.json': { name }, 'blueprints/hello.json': blueprint(name, reply) })
  const { run } = cluster
  const waitingOf = async () => {
    const { printed } = await run(['pushes'], 'ben')
    return (
      printed
        .split('\n')
        .find((line) => line.includes(`waiting\t${name}`))
        ?.split('\t')[0] ?? ''
    )
  }
  const first = await run(['push', await folderOf('one'), '--yes'], 'ann')
  expect([first.code, first.printed]).toEqual([
    3,
    expect.stringContaining('waits until another user approves it'),
  ])
  const own = await run(['approve', await waitingOf(), '--yes'], 'ann')
  expect([own.code, own.complained]).toEqual([1, expect.stringContaining('You have pushed this yourself')])
  const approved = await run(['approve', await waitingOf(), '--yes'], 'ben')
  expect([approved.code, approved.printed]).toEqual([
    0,
    expect.stringContaining(`Release 1 of ${name} is live.`),
  ])

  const waits = run(['push', await folderOf('two'), '--yes', '--wait'], 'ann')
  await expect.poll(waitingOf, { timeout: 20_000 }).not.toBe('')
  await run(['approve', await waitingOf(), '--yes'], 'ben')
  expect(await waits).toMatchObject({
    code: 0,
    printed: expect.stringContaining(`Release 2 of ${name} is live.`),
  })

  const third = await folderOf('three')
  const refused = run(['push', third, '--yes', '--wait'], 'ann')
  await expect.poll(waitingOf, { timeout: 20_000 }).not.toBe('')
  await run(['reject', await waitingOf(), '--comment', 'Not on a Friday'], 'ben')
  expect(await refused).toMatchObject({
    code: 1,
    complained: expect.stringContaining(`Release 3 of ${name} is rejected by ben: Not on a Friday`),
  })
  await run(['push', third, '--yes'], 'ann')
  expect((await run(['reject', await waitingOf()], 'ann')).printed).toContain('is withdrawn')
  expect(await said(name)).toBe('two')
})
