/** export, import and user …: on the data directory while no server runs, and over HTTP while one does. */
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places, signInAt } from '../../test/command-fixture.ts'
import { guidOf } from '../../test/end-to-end/harness.ts'
import { startLocalServer } from '../../test/local-server.ts'
import { type CommandEnd, quoinCommand } from '../../test/recording-terminal.ts'
import type { JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'

const firstKey = '0f'.repeat(32)

describe.each(places)('%s', (where) => {
  /** Of commands that are long, and alike to others in how they reach their place: at the second one in `npm run torture`. */
  const once = (name: string, run: () => Promise<void>) => {
    if (where === 'over HTTP' || inject('thorough')) test(name, run)
  }
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where, {
      settings: { QUOIN_SECRETS_KEY: firstKey, QUOIN_ALLOWED_HOSTS: '127.0.0.1' },
    })
  })
  afterAll(() => fixture.close())

  const file = (name: string) => fixture.file(name)
  const run = (words: readonly string[], input?: string): Promise<CommandEnd> => fixture.run(words, input)
  const inside: CommandFixture['inside'] = (look) => fixture.inside(look)

  test('what is not there is said in one line', async () => {
    expect(await run(['export', 'Nothing'])).toEqual({
      code: 1,
      printed: '',
      complained: 'There is no blueprint "Nothing".',
    })
    expect(await run(['user', 'reset-password', 'nobody'])).toEqual({
      code: 1,
      printed: '',
      complained: 'There is no user "nobody".',
    })
  })

  test('a file does not replace one of several blueprints with its name, and is told which they are', async () => {
    const path = fixture.file('twins.json')
    await writeFile(path, JSON.stringify({ name: 'Twins', blocks: {} }))
    const first = (await run(['import', path])).printed
    const refused = await run(['import', path])
    expect([refused.code, refused.printed]).toEqual([1, ''])
    expect(refused.complained).toContain(`A blueprint named "Twins" exists: ${first}. Use --replace`)
    const guids = [first, (await run(['import', path, '--another', '--activate'])).printed]
    const { code, printed, complained } = await run(['import', path, '--replace'])
    expect([code, printed]).toEqual([1, ''])
    expect(complained).toContain('Several blueprints are named "Twins", so --replace does not know which one')
    expect(complained).toContain('Rename or remove the others in the studio.')
    expect(complained).toContain(`${guids[1]} (active)`)
    for (const guid of guids) expect(complained).toContain(guid)
  })

  test('a blueprint is replaced by a file of its name, and keeps its guid and those of its blocks', async () => {
    const file = (value: string, more: object = {}) => ({
      name: 'Replaced',
      blocks: {
        on: { type: 'on_startup_register_uri_get', in: { uri: 'replaced' } },
        reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
        ...more,
      },
    })
    const path = fixture.file('replaced.json')
    const put = async (content: object) => {
      await writeFile(path, JSON.stringify(content))
      return run(['import', path, '--replace', '--activate'])
    }
    const known = () =>
      inside(async ({ flows }) => {
        const { blueprints } = flows.live.table()
        return [...blueprints.values()].filter(({ name }) => name === 'Replaced')
      })
    const first = await put(file('one', { spare: { type: 'value_default' } }))
    const [before, ...others] = await known()
    expect(others).toEqual([])
    const second = await put(
      file('="two" + reply2.value', { reply2: { type: 'value_default', in: { value: '!' } } }),
    )
    expect(second).toEqual({ ...first, complained: '' })
    const [after] = await known()
    const blocks = (one: typeof after) => new Map(one?.compiled.blocks.map(({ name, guid }) => [name, guid]))
    expect([...blocks(after).keys()].toSorted()).toEqual(['on', 'reply', 'reply2'])
    for (const name of ['on', 'reply']) expect(blocks(after).get(name)).toBe(blocks(before).get(name))
    const exported = JSON.parse((await run(['export', 'Replaced'])).printed)
    expect(exported.blocks.reply.in.value).toBe('="two" + reply2.value')

    const refused = await put(file('=nothing.value'))
    expect(refused.code).toBe(1)
    expect(JSON.parse((await run(['export', 'Replaced'])).printed)).toEqual(exported)
  })

  test('a blueprint that cannot run is not made with --activate', async () => {
    await writeFile(file('bad.json'), JSON.stringify({ name: 'Bad', blocks: { a: { type: 'nothing' } } }))
    const end = await run(['import', file('bad.json'), '--activate'])
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toContain('a: There is no block of the type')
    expect((await run(['export', 'Bad'])).complained).toBe('There is no blueprint "Bad".')
  })

  test('warnings of the deploy are printed once, with the names of the blocks', async () => {
    const blocks = {
      warn: { type: 'on_startup_register_uri_get', in: { uri: 'warned' } },
      call: { type: 'function_custom_execute', in: { flow: '@warn.flow', function: 'nowhere' } },
      left: { type: 'storage', fields: { storage: 'left' } },
    }
    await writeFile(file('warned.json'), JSON.stringify({ name: 'Warned', blocks }))
    for (const more of [[], ['--replace']]) {
      const { code, complained } = await run(['import', file('warned.json'), '--activate', ...more])
      const lines = complained.split('\n').map((line) => line.slice(file('warned.json').length))
      expect([code, lines]).toEqual([
        0,
        [
          expect.stringMatching(/^: warning: left: No block that runs uses/),
          expect.stringMatching(/^: warning: call\.function: There is no custom function nowhere/),
        ],
      ])
    }
  })

  test('what fails on the way leaves nothing behind', async () => {
    const blocks = { b: { type: 'storage', fields: { storage: 'x' } }, a: { type: 'nothing' } }
    await writeFile(file('half.json'), JSON.stringify({ name: 'Half', blocks }))
    const end = await run(['import', file('half.json')])
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect((await run(['export', 'Half'])).complained).toBe('There is no blueprint "Half".')
  })

  test('the documents of a file are stored once, and one that does not fit leaves nothing behind', async () => {
    const put = async (name: string, documents: unknown, ...more: string[]) => {
      await writeFile(file('samples.json'), JSON.stringify({ name, blocks: {}, documents }))
      return run(['import', file('samples.json'), ...more])
    }
    const stored = () => inside(async (quoin) => quoin.database.session().count('samples', matchAll, true))
    expect(await put('Sampled', { samples: [{ n: 1 }, { n: 2 }] })).toMatchObject({ code: 0, complained: '' })
    expect(await stored()).toBe(2)
    for (const more of [[], ['--replace']]) await put('Again', { samples: [{ n: 3 }] }, ...more)
    expect(await stored()).toBe(2)

    expect(await put('Own', { _user: [{ n: 1 }] })).toMatchObject({ code: 1, printed: '' })
    expect((await run(['export', 'Own'])).complained).toBe('There is no blueprint "Own".')
    const wrong = await put('Wrong', { samples: [1] })
    expect(wrong).toMatchObject({ code: 1, complained: expect.stringContaining('documents.samples.0') })
  })

  test('values of the environment are set, listed, read, changed and removed', async () => {
    const empty = await run(['env', 'list'])
    expect([empty.code, empty.printed, empty.complained]).toEqual([
      0,
      '',
      expect.stringContaining('quoin env set'),
    ])
    const done = { code: 0, printed: '', complained: '' }
    expect(await run(['env', 'set', 'BASE_URL', 'https://shop.example'])).toEqual(done)
    expect(await run(['env', 'set', 'LIMIT', '5'])).toEqual(done)
    expect(await run(['env', 'set', 'LIMIT', '{"daily":5}', '--json'])).toEqual(done)
    expect((await run(['env', 'list'])).printed).toBe('BASE_URL\t"https://shop.example"\nLIMIT\t{"daily":5}')
    expect((await run(['env', 'get', 'BASE_URL'])).printed).toBe('https://shop.example')
    expect((await run(['env', 'get', 'LIMIT'])).printed).toBe('{"daily":5}')
    expect(await run(['env', 'unset', 'LIMIT'])).toEqual(done)
    for (const [words, code, complained] of [
      [['env', 'get', 'LIMIT'], 1, 'There is no value "LIMIT".'],
      [['env', 'get', 'BASE_URI'], 1, 'There is no value "BASE_URI". Did you mean BASE_URL?'],
      [['env', 'unset', 'LIMIT'], 1, 'There is no value "LIMIT".'],
      [['env', 'set', 'base-url', 'x'], 1, expect.stringContaining('name')],
      [['env', 'set', 'LIMIT', '{5', '--json'], 2, expect.stringContaining('is not JSON')],
      [['env', 'set', 'LIMIT'], 2, expect.stringContaining('Missing argument: <value>')],
      [['env', 'sett', 'LIMIT', '1'], 2, expect.stringContaining('Did you mean')],
    ] as const)
      expect([words, await run(words)]).toEqual([words, { code, printed: '', complained }])
    expect((await run(['env', 'list'])).printed).toBe('BASE_URL\t"https://shop.example"')
    await run(['env', 'unset', 'BASE_URL'])
  })

  test('secrets are set from the standard input or a file, listed without values, changed and removed', async () => {
    const empty = await run(['secret', 'list'])
    expect([empty.code, empty.printed, empty.complained]).toEqual([
      0,
      '',
      expect.stringContaining('secret set'),
    ])
    const done = { code: 0, printed: '', complained: '' }
    const values = () =>
      inside(async ({ flows: { secrets } }) => secrets.names().map((name) => [name, secrets.open(name)]))
    expect(await run(['secret', 'set', 'STRIPE'], 'sk_first')).toEqual(done)
    expect(await run(['secret', 'set', 'STRIPE'], 'sk_second')).toEqual(done)
    await writeFile(file('key.pem'), 'line 1\nline 2\n')
    expect(await run(['secret', 'set', 'PRIVATE', '--file', file('key.pem')])).toEqual(done)
    expect(await values()).toEqual([
      ['STRIPE', { value: 'sk_second' }],
      ['PRIVATE', { value: 'line 1\nline 2\n' }],
    ])
    expect(await run(['secret', 'list'])).toEqual({ ...done, printed: 'PRIVATE\t\nSTRIPE\t' })
    for (const [words, code, complained, input] of [
      [['secret', 'unset', 'STRIPS'], 1, 'There is no secret "STRIPS". Did you mean STRIPE?', ''],
      [['secret', 'set', 'EMPTY'], 2, expect.stringContaining('The value is empty'), ''],
      [['secret', 'set', 'a-b'], 1, expect.stringContaining('name'), 'x'],
      [['secret', 'set', 'A', 'value'], 2, expect.stringContaining('Unexpected argument'), ''],
      [['secret', 'get', 'STRIPE'], 2, expect.stringContaining('Did you mean'), ''],
    ] as const)
      expect([words, await run(words, input)]).toEqual([words, { code, printed: '', complained }])
    const rotated = await run(['secret', 'rotate'])
    expect(rotated).toEqual({ ...done, printed: '0 secrets encrypted again.' })
    for (const name of ['STRIPE', 'PRIVATE']) expect(await run(['secret', 'unset', name])).toEqual(done)
    expect(await values()).toEqual([])
  })

  once('API keys are created, listed without secrets, rotated and removed', async () => {
    for (const [words, code, complained] of [
      [['key', 'list', 'nobody'], 1, 'There is no user "nobody".'],
      [['key', 'list', 'admin'], 0, 'The user has no API keys.'],
      [['key', 'create', 'admin'], 2, expect.stringContaining('Missing argument: <name>')],
      [['key', 'create', 'admin', 'ERP', '--days', '0'], 2, expect.stringContaining('--days must be')],
      [['key', 'create', 'admin', 'ERP', '--endpoints', 'nonsense'], 1, expect.stringContaining('nonsense')],
      [['key', 'rotate', 'admin', 'ERP', '--overlap', 'x'], 2, expect.stringContaining('--overlap must be')],
      [['key', 'rotate', 'admin', 'ERP'], 1, 'There is no API key "ERP".'],
    ] as const)
      expect([words, await run(words)]).toEqual([words, { code, printed: '', complained }])
    const words = ['--scopes', 'users_view, orders', '--endpoints', 'GET /api/v1/orders', '--days', '30']
    const made = await run(['key', 'create', 'admin', 'ERP', ...words])
    expect(made).toMatchObject({ code: 0, printed: expect.stringMatching(/^qk_/), complained: '' })
    const opens = (key: string) => inside(async ({ access }) => (await access.identify(key))?.scopes)
    expect(await opens(made.printed)).toEqual(new Set(['users_view', 'orders']))
    const listed = await run(['key', 'list', 'admin'])
    expect(listed.printed).toMatch(/^ERP\tqk_....…\tusers_view,orders\texpires \d{4}-\d\d-\d\d\tused /)
    expect(listed.printed).not.toContain(made.printed)
    const rotated = await run(['key', 'rotate', 'admin', 'ERP', '--overlap', '0'])
    expect([await opens(made.printed), (await opens(rotated.printed))?.size]).toEqual([undefined, 2])
    expect((await run(['key', 'remove', 'admin', 'ERQ'])).complained).toContain('Did you mean ERP?')
    expect(await run(['key', 'remove', 'admin', 'ERP'])).toEqual({ code: 0, printed: '', complained: '' })
    expect(await opens(rotated.printed)).toBeUndefined()
  })

  test('a file lists the secrets that it uses; an import says which are not set, a deploy too', async () => {
    const blocks = {
      on: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
      check: {
        type: 'check_signature',
        in: { flow: '@on.flow', secret: 'STRIPE', former_secret: 'FORMER' },
        fields: { sender: 'stripe' },
      },
      reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
    }
    const layout = { on: [0, 0], check: [300, 0], reply: [600, 0] }
    const content = { name: 'Signed', secrets: ['FORMER', 'STRIPE'], blocks, layout }
    const text = `${JSON.stringify(content, undefined, 2)}\n`
    await writeFile(file('signed.json'), text)
    const made = await run(['import', file('signed.json')])
    expect([made.code, made.complained.split('\n')]).toEqual([
      0,
      ['FORMER', 'STRIPE'].map((name) => expect.stringContaining(`no secret ${name}. Set it`)),
    ])
    expect((await run(['export', 'Signed'])).printed).toBe(text.trimEnd())
    await run(['secret', 'set', 'STRIPE'], 'x')
    const deployed = await run(['import', file('signed.json'), '--replace', '--activate'])
    expect([deployed.code, deployed.complained.split('\n')]).toEqual([
      0,
      [expect.stringContaining('check.former_secret: There is no secret FORMER')],
    ])
    if (where === 'over HTTP') expect((await run(['secret', 'list'])).printed).toBe('STRIPE\tSigned')
    await run(['secret', 'unset', 'STRIPE'])
  })

  once('connections are set from a file, listed, tried and removed; a file lists them', async () => {
    const done = { code: 0, printed: '', complained: '' }
    const other = await startLocalServer((request, response) => {
      response.writeHead(
        request.headers.authorization === 'Bearer sk' && request.url === '/v1/me' ? 200 : 404,
      )
      response.end('not shown')
    })
    const shop = {
      base_url: `${other.url}/v1`,
      auth: { kind: 'bearer', secret: 'SHOP_KEY' },
      headers: { 'x-shop': '7' },
      description: 'The shop',
    }
    await writeFile(file('shop.json'), JSON.stringify(shop))
    await writeFile(file('list.json'), '[1]')
    expect((await run(['connection', 'list'])).complained).toContain('connection set')
    expect(await run(['connection', 'set', 'SHOP', file('shop.json')])).toEqual(done)
    await writeFile(file('shop.json'), JSON.stringify({ description: 'Our shop' }))
    expect(await run(['connection', 'set', 'SHOP', file('shop.json')])).toEqual(done)
    expect(JSON.parse((await run(['connection', 'get', 'SHOP'])).printed)).toEqual({
      ...shop,
      description: 'Our shop',
    })
    expect(await run(['connection', 'list'])).toEqual({ ...done, printed: `SHOP\t${shop.base_url}\tbearer` })
    for (const [words, code, complained] of [
      [['unset', 'SHOPS'], 1, 'There is no connection "SHOPS". Did you mean SHOP?'],
      [['set', 'SHOP', file('list.json')], 2, expect.stringContaining('is not a JSON object')],
      [['set', 'a-b', file('shop.json')], 1, expect.stringContaining('name')],
      [['set', 'SHOP', file('none.json')], 1, expect.stringContaining('none.json')],
      [['try', 'SHOP', '--path', 'me'], 1, expect.stringContaining('SHOP_KEY')],
      [
        ['try', 'SHOP', '--path', '//elsewhere.example'],
        1,
        expect.stringContaining('below the base address'),
      ],
    ] as const)
      expect([words, await run(['connection', ...words])]).toEqual([words, { code, printed: '', complained }])
    await run(['secret', 'set', 'SHOP_KEY'], 'sk')
    const tried = await run(['connection', 'try', 'SHOP', '--path', 'me'])
    expect(tried).toEqual({ ...done, printed: expect.stringMatching(/^200 in \d+ ms$/) })
    const missing = await run(['connection', 'try', 'SHOP'])
    expect(missing).toEqual({ ...done, code: 1, printed: expect.stringMatching(/^404 in /) })
    await other.close()
    const paths = { '/me': { get: { operationId: 'me', summary: 'Me' }, trace: {} } }
    await writeFile(file('api.json'), JSON.stringify({ openapi: '3.0.0', paths }))
    expect(await run(['connection', 'operations', 'SHOP'])).toMatchObject({
      printed: '',
      complained: expect.stringContaining('quoin connection document SHOP'),
    })
    expect(await run(['connection', 'document', 'SHOP', file('api.json')])).toEqual({
      ...{ code: 0, printed: '1 operations, 0 changed', complained: 'left out: TRACE /me: the method' },
    })
    expect(await run(['connection', 'operations', 'SHOP'])).toEqual({ ...done, printed: 'me\tGET /me\tMe' })
    const operation = await run(['connection', 'operation', 'SHOP', 'me'])
    expect(JSON.parse(operation.printed)).toMatchObject({ id: 'me', method: 'GET', path: '/me', pins: [] })
    for (const [words, complained] of [
      [['operation', 'SHOP', 'you'], 'has no operation you'],
      [['document', 'SHOP', file('shop.json')], 'openapi'],
      [['document', 'SHOP', 'http://127.0.0.2:9/api.json'], 'private address'],
    ] as const)
      expect(await run(['connection', ...words])).toEqual({
        ...{ code: 1, printed: '', complained: expect.stringContaining(complained) },
      })
    const blocks = {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'asks' }, scopes: ['*public'] },
      ask: { type: 'http_request', in: { flow: '@on.flow', connection: 'SHOPS', url: 'me' } },
      reply: { type: 'reply', in: { flow: '@ask.flow', value: '=1' } },
    }
    const layout = { on: [0, 0], ask: [300, 0], reply: [600, 0] }
    const content = { name: 'Asks', connections: ['SHOPS'], blocks, layout }
    await writeFile(file('asks.json'), JSON.stringify(content))
    expect(await run(['import', file('asks.json')])).toMatchObject({
      code: 0,
      complained: expect.stringContaining(
        'There is no connection SHOPS. Set it: quoin connection set SHOPS <file>',
      ),
    })
    expect(JSON.parse((await run(['export', 'Asks'])).printed)).toEqual(content)
    expect(await run(['connection', 'unset', 'SHOP'])).toEqual(done)
    await run(['secret', 'unset', 'SHOP_KEY'])
  })

  once('a file lists the values that it reads; an import says which are missing, a deploy too', async () => {
    const text = `${JSON.stringify(
      {
        name: 'Links',
        env: ['BASE_URL', 'MAIL'],
        blocks: {
          on: { type: 'on_startup_register_uri_get', in: { uri: 'links' }, scopes: ['*public'] },
          reply: {
            type: 'httpconnection_set_json',
            in: { flow: '@on.flow', value: '=[env.MAIL.from, env.BASE_URL + "/a", env["BASE_URL"]]' },
          },
        },
        layout: { on: [0, 0], reply: [300, 0] },
      },
      undefined,
      2,
    )}\n`
    await writeFile(file('links.json'), text)
    const made = await run(['import', file('links.json')])
    expect([made.code, made.complained.split('\n')]).toEqual([
      0,
      ['BASE_URL', 'MAIL'].map((name) => expect.stringContaining(`no value env.${name}`)),
    ])
    expect((await run(['export', 'Links'])).printed).toBe(text.trimEnd())
    await run(['env', 'set', 'BASE_URL', 'https://shop.example'])
    const deployed = await run(['import', file('links.json'), '--replace', '--activate'])
    expect([deployed.code, deployed.complained.split('\n')]).toEqual([
      0,
      [expect.stringContaining('reply.value: There is no value env.MAIL')],
    ])
    await run(['env', 'set', 'MAIL', '{"from":"shop@example.org"}', '--json'])
    expect((await run(['import', file('links.json'), '--replace'])).complained).toBe('')
    await run(['env', 'unset', 'BASE_URL'])
    await run(['env', 'unset', 'MAIL'])
  })

  test('the export of an import is the same file', async () => {
    expect(await run(['export', 'Tasks', file('tasks.json')])).toEqual({
      code: 0,
      printed: '',
      complained: '',
    })
    const exported = await readFile(file('tasks.json'), 'utf8')
    const remark = { kind: 'note', text: 'Weekly', color: 'yellow', at: [40, 60], size: [220, 90] }
    const chores: JsonObject = JSON.parse(
      exported
        .replace('"name": "Tasks"', '"name": "Chores"')
        .replaceAll('"tasks/{guid}"', '"chores/{guid}"')
        .replaceAll('"uri": "tasks"', '"uri": "chores"'),
    )
    const { name = '', description = 'At home', ...rest } = chores
    const more = { category: 'Home', tags: ['weekly', '@work'] }
    const whole = { name, description, ...more, ...rest, notes: [remark] }
    const renamed = `${JSON.stringify(whole, undefined, 2)}\n`
    await writeFile(file('chores.json'), renamed)
    const made = await run(['import', file('chores.json'), '--activate'])
    expect(made).toMatchObject({ code: 0, complained: '' })
    expect((await run(['export', 'Chores'])).printed).toBe(renamed.trimEnd())
    expect((await run(['export', made.printed])).printed).toBe(renamed.trimEnd())
    await inside(async ({ server }) => {
      expect((await server.app.inject('/api/v1/chores')).json()).toEqual([])
    })
  })

  test('what is taken by another blueprint is imported, and not active', async () => {
    const end = await run(['import', file('tasks.json'), '--another', '--activate'])
    expect(end.code).toBe(1)
    expect(end.complained).toContain('It was imported and is not active')
    expect(end.complained).toContain('belongs to the active blueprint')
    const twice = await run(['export', 'Tasks'])
    expect(twice).toMatchObject({ code: 1, printed: '' })
    expect(twice.complained).toContain(end.printed)
  })

  test('a user is made with a password that is printed once, and with scopes', async () => {
    const end = await run(['user', 'create', 'ann', '--scopes', 'users_view, blueprints_view'])
    expect(end).toMatchObject({ code: 0, complained: '' })
    const password = /^Password: (\S+)/m.exec(end.printed)?.[1] ?? ''
    await inside(async (quoin) => {
      const { user } = await signInAt(quoin, 'ann', password)
      const scopes = await quoin.access.scopesOfUser(guidOf(user))
      expect([...(scopes ?? [])].sort()).toEqual(['blueprints_view', 'users_view'])
    })
    expect(await run(['user', 'create', 'ann'])).toMatchObject({
      code: 1,
      printed: '',
      complained: expect.stringContaining('taken'),
    })
    const short = await run(['user', 'create', 'bob', '--password-stdin'], 'short')
    expect(short).toMatchObject({ code: 1, complained: expect.stringContaining('at least 10 characters') })
  })

  test('a service account has no password, and is used by a key', async () => {
    const create = ['user', 'create', 'deployer', '--service']
    expect(await run([...create, '--password-stdin'], 'a password of it')).toMatchObject({
      code: 2,
      printed: '',
    })
    expect(await run([...create, '--scopes', 'orders'])).toMatchObject({ code: 0, complained: '' })
    expect(await run(['user', 'reset-password', 'deployer'])).toMatchObject({
      ...{ code: 1, printed: '', complained: expect.stringContaining('has no password') },
    })
    const { printed: key } = await run(['key', 'create', 'deployer', 'ci', '--scopes', '*'])
    await inside(async ({ access }) => expect((await access.identify(key))?.scopes.size).toBe(1))
  })

  test('a new password unlocks, and the old one no longer works', async () => {
    await run(['user', 'create', 'cas', '--password-stdin'], 'the first password')
    const end = await run(['user', 'reset-password', 'cas', '--password-stdin'], 'the second password')
    expect(end).toEqual({ code: 0, printed: 'The user cas has a new password.', complained: '' })
    await inside(async (quoin) => {
      await expect(signInAt(quoin, 'cas', 'the first password')).rejects.toMatchObject({
        code: 'INVALID_CREDENTIALS',
      })
      expect(await signInAt(quoin, 'cas', 'the second password')).toMatchObject({ user: { username: 'cas' } })
    })
  })

  if (where === 'over HTTP') {
    test('without --url, while the server runs: one line that says how', async () => {
      const end = await quoinCommand(['export', 'Tasks'], fixture.environment)
      expect(end).toMatchObject({ code: 1, printed: '' })
      expect(end.complained).toMatch(/in use.*quoin login.*--url/)
      expect(end.complained.split('\n')).toHaveLength(1)
    })

    test('a wrong token, and a server that is not there, are one line', async () => {
      const wrong = await quoinCommand(['export', 'Tasks', ...fixture.flags], {
        ...fixture.environment,
        QUOIN_TOKEN: 'wrong',
      })
      expect(wrong).toMatchObject({ code: 1, printed: '' })
      expect(wrong.complained).toContain('access token')
      const nowhere = await quoinCommand(
        ['export', 'Tasks', '--url', 'http://127.0.0.1:9'],
        fixture.environment,
      )
      expect(nowhere).toMatchObject({ code: 1, printed: '' })
      expect(nowhere.complained).toMatch(/^No answer from http:\/\/127\.0\.0\.1:9: /)
    })
  } else {
    test('where there is no data none is made', async () => {
      const end = await quoinCommand(['user', 'create', 'a'], { QUOIN_DATA: file('nothing') })
      expect(end).toMatchObject({ code: 1, printed: '' })
      expect(end.complained).toContain('There is no Quoin data in')
      await expect(readFile(file('nothing'))).rejects.toMatchObject({ code: 'ENOENT' })
    })
  }
})
