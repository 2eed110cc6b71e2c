/** Pushes that compare recorded runs first: a difference that is not accepted refuses the release, and nothing of the comparison stays. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import type { CommandEnd } from '../recording-terminal.ts'
import { applicationsOfSuite } from './application-fixture.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { soon } from './tracing-fixture.ts'

const applications = applicationsOfSuite({ QUOIN_RATE_LIMIT: '0' })

let made = 0
const fresh = () => `verified${made++}`

/** Lists titles, and creates documents. */
const blocks = (name: string, title: string): JsonObject => ({
  list: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
  all: { type: 'function_search', in: { flow: '@list.flow', storage: name } },
  listed: {
    type: 'httpconnection_set_json',
    in: { flow: '@all.flow', value: `={ titles: all.documents.map(one => ${title}), once: uuid() }` },
  },
  post: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@post.flow', storage: name, set: '={ title: body.title }' },
  },
  made: {
    type: 'httpconnection_set_json',
    in: { flow: '@create.flow', value: '=create.document', code: 201 },
  },
})

const application = (name: string, title: string, fields: JsonObject = { title: { type: 'string' } }) => ({
  about: { name },
  blueprints: { goods: { name, blocks: blocks(name, title) } },
  storages: { [name]: { fields } },
  ...{ groups: {}, templates: {}, seed: {}, tests: {} },
})

async function push(
  { about, blueprints, storages }: ReturnType<typeof application>,
  words: readonly string[] = [],
  as = 'admin',
): Promise<CommandEnd> {
  const folder = await applications.folderOf({
    'quoin.json': about,
    'blueprints/goods.json': blueprints.goods,
    [`storages/${about.name}.json`]: storages[about.name] ?? {},
  })
  return applications.run(['push', folder, '--yes', ...words], as)
}

/** A release that is traced, with two documents and a list of them as recorded runs. */
async function recorded(name: string): Promise<void> {
  expect((await push(application(name, 'one.title'))).code).toBe(0)
  await trace(name)
  for (const title of ['tea', 'tea'])
    expect((await applications.quoin.send('POST', `/${name}`, { body: { title } })).status).toBe(201)
  await applications.quoin.send('GET', `/${name}`)
}

async function trace(
  name: string,
  how: JsonObject = { on: true, minutes: 60, keep_last: 200 },
): Promise<void> {
  const found = objectsOf(
    await applications.quoin.manage('POST', '/blueprints/search', { filters: { name } }),
  )
  const guid = guidOf(found[0] ?? {})
  await applications.quoin.manage('PUT', `/blueprints/${guid}/tracing`, how)
}

const titles = async (name: string) =>
  objectOf((await applications.quoin.send('GET', `/${name}`)).body ?? {}).titles
const keyIn = (text: string) => /^differs ([0-9a-f]{16}):/mu.exec(text)?.[1] ?? ''

describe('refused', () => {
  test.each([
    [
      'a number that is none',
      ['--verify', 'all'],
      '--verify must be a whole number from 1 to 200; got "all".',
    ],
    ['none', ['--verify', '0'], 'from 1 to 200; got "0"'],
    ['too many', ['--verify', '201'], 'from 1 to 200; got "201"'],
    ['a key alone', ['--accept', 'x'], '--accept needs --verify <number>.'],
  ])('%s', async (_what, words, said) => {
    const name = fresh()
    const { code, complained } = await push(application(name, 'one.title'), words)
    expect([code, complained]).toEqual([2, expect.stringContaining(said)])
    expect((await applications.quoin.send('GET', `/${name}`)).status).toBe(404)
  })

  test('without the scope runs_view', async () => {
    const name = fresh()
    await recorded(name)
    const kinds = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
    const views = [...kinds, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
    const updates = ['applications_update', 'blueprints_update', 'blueprintactions_update']
    await applications.quoin.addUser(name, [...views, ...updates])
    const next = application(name, 'upper(one.title)')
    const refused = await push(next, ['--verify', '5'], name)
    expect([refused.code, refused.complained]).toEqual([
      1,
      expect.stringContaining('The scope runs_view is missing'),
    ])
    expect(await titles(name)).toEqual(['tea', 'tea'])
    expect((await push(next, [], name)).code).toBe(0)
  })
})

test('a difference refuses the push and is listed by its key; its key accepts it, for this push only', async () => {
  const name = fresh()
  await recorded(name)
  const before = await applications.quoin.documents(name)
  const refused = await push(application(name, 'upper(one.title)'), ['--verify', '50'])
  expect([refused.code, refused.printed, refused.complained]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        `^differs [0-9a-f]{16}: blueprints/goods.json GET ${name}: value at titles\\[\\] \\(run `,
        'mu',
      ),
    ),
    expect.stringContaining('Recorded runs differ on the new blocks (1, see details).'),
  ])
  expect(refused.printed).not.toContain('is live')
  expect([await titles(name), await applications.quoin.documents(name)]).toEqual([['tea', 'tea'], before])
  const other = await push(application(name, 'upper(one.title)'), ['--verify', '50', '--accept', 'other'])
  expect(other.code).toBe(1)
  const key = keyIn(refused.printed)
  const accepted = await push(application(name, 'upper(one.title)'), ['--verify', '50', '--accept', key])
  expect([accepted.code, accepted.printed]).toEqual([
    0,
    expect.stringMatching(
      /^verified blueprints\/goods.json: \d+ recorded runs compared, 2 end the same, 1 accepted differences$/mu,
    ),
  ])
  expect([await titles(name), await applications.quoin.documents(name)]).toEqual([['TEA', 'TEA'], before])
  expect((await push(application(name, 'one.title'), ['--verify', '50'])).code).toBe(1)
})

test('runs that end the same let the push through', async () => {
  const name = fresh()
  await recorded(name)
  const { code, printed } = await push(application(name, "one.title + ''"), ['--verify', '2'])
  expect([code, printed]).toEqual([
    0,
    expect.stringContaining('verified blueprints/goods.json: 2 recorded runs compared, 2 end the same\n'),
  ])
})

test('where nothing is recorded or no blueprint changes, the push says so', async () => {
  const name = fresh()
  const first = await push(application(name, 'one.title'), ['--verify', '5'])
  expect([first.code, first.printed]).toEqual([
    0,
    expect.stringContaining('not verified: the push changes no blueprint that is there.'),
  ])
  const second = await push(application(name, 'upper(one.title)'), ['--verify', '5'])
  expect([second.code, second.printed]).toEqual([
    0,
    expect.stringContaining('not verified blueprints/goods.json: no run is recorded.'),
  ])
})

test('recorded requests are compared too, and a difference that was accepted stays accepted until a release', async () => {
  const name = fresh()
  expect((await push(application(name, 'one.title'))).code).toBe(0)
  await trace(name, { on: false, record_one_in: 1_000_000 })
  const send = { GET: {}, POST: { body: { title: 'tea' } } }
  // The flows are compiled for it beside the first requests.
  for (const method of ['GET', 'POST'] as const)
    await soon(async () => {
      await applications.quoin.send(method, `/${name}`, send[method])
      const labels = (await applications.quoin.documents('_recorded_requests')).map(({ label }) => label)
      return labels.includes(`${method} ${name}`) || undefined
    })
  const next = application(name, 'upper(one.title)')
  const made = objectOf(objectOf(objectOf(next.blueprints.goods).blocks ?? {}).made ?? {})
  Object.assign(objectOf(made.in ?? {}), { code: 200 })
  const refused = await push(next, ['--verify', '5'])
  const keys = refused.printed.split('\n').map(keyIn).filter(Boolean)
  expect([refused.code, keys.length]).toEqual([1, 2])
  const [first = '', second = ''] = keys
  expect((await push(next, ['--verify', '5', '--accept', first])).code).toBe(1)
  const accepted = await push(next, ['--verify', '5', '--accept', second])
  expect([accepted.code, accepted.printed]).toEqual([
    0,
    expect.stringContaining(
      'verified blueprints/goods.json: 2 recorded runs compared, 0 end the same, 1 accepted differences, 1 accepted before',
    ),
  ])
  // Of the next release nothing is accepted.
  expect((await push(application(name, 'one.title'), ['--verify', '5'])).code).toBe(1)
})

test('a block that became much slower is printed, and refuses nothing', async () => {
  const name = fresh()
  await recorded(name)
  for (let times = 0; times < 6; times++) await applications.quoin.send('GET', `/${name}`)
  const busy = "range(1, 4000).filter(n => upper('quoin'.repeat(20)) == 'x').length == 0"
  const pushed = await push(application(name, `${busy} ? one.title : ''`), ['--verify', '50'])
  expect([pushed.code, pushed.printed]).toEqual([
    0,
    expect.stringMatching(
      /^slower blueprints\/goods.json: block listed takes \d+\.\d ms, before \d+\.\d ms$/mu,
    ),
  ])
})

test('a renamed field has its values when the runs are compared', async () => {
  const name = fresh()
  await recorded(name)
  const renamed = { subject: { was: 'title', type: 'string' } }
  const next = application(name, 'one.subject', renamed)
  const { create: _, made: _made, post: _post, ...reads } = next.blueprints.goods.blocks
  const reading = { ...next, blueprints: { goods: { name, blocks: reads } } }
  const refused = await push(reading, ['--verify', '50'])
  expect([refused.code, refused.printed]).toEqual([1, expect.stringContaining('The trigger is not among')])
  expect(refused.printed.match(/^differs/gmu)).toHaveLength(1)
  const done = await push(reading, ['--verify', '50', '--accept', keyIn(refused.printed)])
  expect([done.code, done.printed]).toEqual([0, expect.stringContaining('1 accepted differences')])
  expect(await titles(name)).toEqual(['tea', 'tea'])
})

test('by API, the differences are in the details and the counts in the reply', async () => {
  const name = fresh()
  await recorded(name)
  const next = application(name, 'upper(one.title)')
  const { state = '' } = objectOf(
    await applications.quoin.manage('POST', '/_system/applications/plan', { application: next }),
  )
  const send = (verify: JsonObject) =>
    applications.quoin.send('POST', '/_system/applications/push', {
      as: 'admin',
      body: { application: next, state, verify },
    })
  expect((await send({ runs: 201 })).status).toBe(400)
  const refused = await send({})
  const [difference, ...others] = objectsOf(
    objectOf(objectOf(refused.body ?? {}).details ?? {}).differences ?? [],
  )
  expect([refused.status, others, difference]).toEqual([
    409,
    [],
    {
      ...{ key: expect.any(String), file: 'blueprints/goods.json', run: expect.any(String) },
      ...{ label: `GET ${name}`, kind: 'value', paths: ['titles[]'] },
      deployed: { status: 200, error: null },
      candidate: { status: 200, error: null },
    },
  ])
  const accepted = [String(difference?.key)]
  const done = await send({ accepted })
  const { verified } = objectOf(done.body ?? {})
  expect([done.status, verified]).toEqual([
    200,
    [
      {
        file: 'blueprints/goods.json',
        compared: 3,
        same: 2,
        accepted,
        remembered: 0,
        skipped: 0,
        left: 0,
        slower: [],
      },
    ],
  ])
})

test('a push that waits for a second user is compared before it waits', async () => {
  const name = fresh()
  await recorded(name)
  await applications.quoin.manage('PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', { value: name })
  const next = application(name, 'upper(one.title)')
  const refused = await push(next, ['--verify', '50'])
  expect([refused.code, await applications.quoin.manage('GET', '/_system/pushes')]).toEqual([1, []])
  const waits = await push(next, ['--verify', '50', '--accept', keyIn(refused.printed)])
  expect([waits.code, waits.printed]).toEqual([3, expect.stringContaining('1 accepted differences')])
  // The second person sees what was compared.
  const [waiting] = objectsOf(await applications.quoin.manage('GET', '/_system/pushes'))
  const shown = await applications.quoin.manage('GET', `/_system/pushes/${String(waiting?.guid)}`)
  const compared = { file: 'blueprints/goods.json', accepted: [keyIn(refused.printed)] }
  expect([waiting?.verified, shown]).toMatchObject([[compared], { verified: [compared] }])
  expect(await titles(name)).toEqual(['tea', 'tea'])
})
