/** Mails from a flow to a real SMTP server: what arrives, what is tried again, what never leaves, and a node that is killed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { createField } from '../../src/records/fields/field-records.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { documentOf } from '../../src/storage/database.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { transact } from '../../src/storage/transact.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { installOver } from '../cluster/install-over.ts'
import { localCertificate } from '../local-certificate.ts'
import { type MailServer, mailCredentials, openMailServer, partOf, type TakenMail } from '../mail-server.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { eventually } from './example-fixture.ts'
import { adminPassword, objectOf, objectsOf, openTestQuoin, startProcess, type TestQuoin } from './harness.ts'

const by = { guid: 'u', username: 'ann' }
const FROM = 'Shop <shop@example.com>'

/** POST mails: sends what the body says, then fails if it says so. */
const sending: JsonObject = {
  ask: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*public'] },
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@ask.flow', storage: 'notes', set: '={ subject: body.subject }' },
  },
  mail: {
    type: 'send_mail',
    in: {
      flow: '@note.flow',
      to: '=body.to',
      cc: '=body.cc',
      bcc: '=body.bcc',
      from: '=body.from',
      reply_to: '=body.reply_to',
      subject: '=body.subject',
      text: '=body.text',
      html: '=body.html',
      attachments: '=body.attachments',
      key: '=body.key',
      attempts: '=body.attempts',
      back_off: '=body.back_off',
    },
  },
  undo: { type: 'branch', in: { flow: '@mail.flow', condition: '=body.undo == true' } },
  undone: { type: 'fail', in: { flow: '@undo.true', message: 'Undone.' } },
  sent: { type: 'reply', in: { flow: '@undo.false', value: '=mail.job' } },
}

/** POST reports: a mail of the blocks of a page, with what the body says in a text, and the notes as a table. */
const reporting: JsonObject = {
  ask: { type: 'on_startup_register_uri_post', in: { uri: 'reports' }, scopes: ['*public'] },
  title: { type: 'state_h1', in: { text: 'Report' } },
  intro: { type: 'state_text', in: { state: '@title.state', text: '=body.text' } },
  logo: { type: 'state_image', in: { state: '@intro.state', url: '/static/logo.png', alt: 'Logo' } },
  table: {
    type: 'state_advanced_datatable',
    in: {
      ...{ state: '@logo.state', storage: 'lines', sort: 'amount desc' },
      columns: [
        { field: 'name', format: '=value + " of " + doc.of.name' },
        { field: 'amount', kind: 'currency', currency: 'EUR' },
        { field: 'of.name', label: 'Of' },
      ],
      page_size: 2,
      row_link: '/lines/{_meta.guid}',
    },
  },
  open: {
    type: 'state_button',
    in: { state: '@table.state', label: 'Open', kind: 'link', url: '/lines', tone: 'primary' },
  },
  input: { type: 'state_input_dynamic', in: { state: '@open.state', field: 'email' } },
  shown: {
    type: 'state_when',
    in: { condition: '=body.input == true', content: '@input.state', otherwise: '@open.state' },
  },
  mail: {
    type: 'send_mail',
    in: { flow: '@ask.flow', to: 'ann@example.com', subject: '=body.subject', state: '@shown.state' },
  },
  sent: { type: 'reply', in: { flow: '@mail.flow', value: '=mail.job' } },
}

const mail = (subject: string, more: JsonObject = {}): JsonObject => ({
  ...{ to: 'ann@example.com', subject, text: 'Text' },
  ...more,
})

describe('one node', () => {
  let place: AssetPlace
  let server: MailServer
  let quoin: TestQuoin
  let reports = ''

  beforeAll(async () => {
    place = await openAssetPlace()
    server = await openMailServer()
    quoin = await openTestQuoin({
      ...place.settings,
      QUOIN_MAIL_URL: `smtp://127.0.0.1:${server.port}?tls=off`,
      QUOIN_MAIL_FROM: FROM,
      QUOIN_PUBLIC_URL: 'https://shop.example',
    })
    await quoin.install('mails', sending)
    reports = await quoin.install('reports', reporting)
  })
  afterAll(async () => {
    await quoin.close()
    await server.close()
    await place.close()
  })
  beforeEach(() => server.answer(250))

  const taken = (subject: string) => server.taken.filter(({ headers }) => headers.subject === subject)
  const send = async (body: JsonObject) => {
    const reply = await quoin.send('POST', '/mails', { body })
    expect(reply.status, reply.text).toBe(200)
    return String(reply.body)
  }
  const job = async (guid: string) => objectOf(await quoin.manage('GET', `/queue/${guid}`))
  const waiting = (guid: string, state: JsonObject) => eventually(() => job(guid)).toMatchObject(state)
  /** Until the next attempt of a job is due. */
  const due = () => quoin.advance(2 * 3_600_000)

  test.each<[string, JsonObject]>([
    ['a line break in the address', { to: 'ann@example.com\r\nBcc: eve@example.com' }],
    ['a line break in the subject', { subject: 'A\nBcc: eve@example.com' }],
    ['no address', { to: 'ann' }],
    ['a name that would begin a header', { from: 'A\r\nBcc: eve@example.com <a@example.com>' }],
    ['neither text nor html', { text: '' }],
    ['an asset that there is not', { attachments: ['none.pdf'] }],
  ])('%s is refused, and nothing is stored', async (_what, body) => {
    const reply = await quoin.send('POST', '/mails', { body: mail('refused', body) })
    expect([400, 404]).toContain(reply.status)
    expect((await quoin.documents('notes')).filter(({ subject }) => subject !== 'sent')).toEqual([])
    expect(objectsOf(await quoin.manage('POST', '/queue/search', {}))).toEqual([])
  })

  test('a run that fails sends no mail', async () => {
    const reply = await quoin.send('POST', '/mails', { body: mail('undone', { undo: true }) })
    expect(reply.status).toBe(400)
    expect(objectsOf(await quoin.manage('POST', '/queue/search', {}))).toEqual([])
    await send(mail('after'))
    await eventually(() => taken('after').length).toBe(1)
    expect(taken('undone')).toEqual([])
  })

  test('everything arrives: names, replies, both bodies, and recipients that only the envelope has', async () => {
    const guid = await send(
      mail('Grüße', {
        to: '"Lee, Ann" <ann@example.com>',
        cc: ['bob@example.com'],
        bcc: 'eve@example.com',
        reply_to: 'help@example.com',
        text: 'Hello\r\n.\r\nBcc: not a header',
        html: '<p>Hello</p>',
      }),
    )
    await waiting(guid, {
      status: 'done',
      attempts: 1,
      queue: '_mail',
      title: 'ann@example.com and 2 more: Grüße',
    })
    const [one] = server.taken.slice(-1)
    expect(one).toMatchObject({
      from: 'shop@example.com',
      to: ['ann@example.com', 'bob@example.com', 'eve@example.com'],
      headers: {
        from: FROM,
        to: '"Lee, Ann" <ann@example.com>',
        cc: 'bob@example.com',
        'reply-to': 'help@example.com',
        subject: '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
        'message-id': `<${guid}@example.com>`,
        'auto-submitted': 'auto-generated',
        'content-type': expect.stringContaining('multipart/alternative'),
      },
      secure: false,
    })
    expect(one?.headers.bcc).toBeUndefined()
    expect(one?.body).toContain('<p>Hello</p>')
    expect(one?.body).toContain('Bcc: not a header')
  })

  test('blocks of a page arrive as HTML and as text, with the rows of a table and whole addresses', async () => {
    const { database } = quoin.quoin
    for (const name of ['lines', 'groups']) await database.ensure(name)
    const reference = { storage: 'groups', on_delete: 'refuse' }
    await createField(database, { name: 'of', type: 'reference', storage: 'lines', reference }, by)
    const made = (storage: string, values: JsonObject) =>
      transact(database, async (session) =>
        guidOf(documentOf(await session.create(storage, setFields(values)))),
      )
    const of = await made('groups', { name: 'Tools <b>' })
    const small = await made('lines', { name: 'Nail', amount: 1, of })
    const saw = await made('lines', { name: '<script>Saw</script>', amount: 1234.5, of })
    await made('lines', { name: 'Axe', amount: 30, of })
    const reply = await quoin.send('POST', '/reports', { body: { subject: 'Report', text: 'Two & <more>' } })
    expect(reply.status, reply.text).toBe(200)
    await eventually(() => taken('Report').length).toBe(1)
    const [one] = taken('Report')
    if (!one) throw new Error('No mail came.')
    expect(partOf(one, 'text/plain').trimEnd()).toBe(
      [
        'Report\n======\n\nTwo & <more>\n\nLogo\n',
        'lines\n-----\nName | Amount | Of\n<script>Saw</script> of Tools <b> | €1,234.50 | Tools <b>\nAxe of Tools <b> | €30.00 | Tools <b>',
        'This mail does not contain all rows.\n\nOpen: https://shop.example/lines',
      ].join('\n'),
    )
    const html = partOf(one, 'text/html')
    expect(html).toContain('Two &amp; &lt;more></p>')
    expect(html).toContain(`href="https://shop.example/lines/${saw}"`)
    expect(html).toContain('src="https://shop.example/static/logo.png"')
    expect(html).not.toMatch(/<script|<form|<input/)
    expect(html).not.toContain(small)
  })

  test('a deploy warns of the blocks that mail cannot show, and of no other', async () => {
    const { notes } = objectOf(await quoin.manage('POST', `/blueprints/check/${reports}`))
    const shown = objectsOf(notes).map(({ message }) => String(message))
    expect(shown.filter((message) => message.includes('mail'))).toEqual([
      '"Input" leads to the state of a mail, which cannot show it: the run fails when the mail has it. Link to a page instead.',
    ])
  })

  test('a block that mail cannot show fails the run, which names it, and nothing is stored', async () => {
    const before = objectsOf(await quoin.manage('POST', '/queue/search', { limit: 100 })).length
    const reply = await quoin.send('POST', '/reports', { body: { subject: 'None', text: 'a', input: true } })
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('state_input_dynamic')])
    expect(objectsOf(await quoin.manage('POST', '/queue/search', { limit: 100 }))).toHaveLength(before)
  })

  test('an asset is attached, read when the mail is sent; one that is deleted by then is a dead letter', async () => {
    const upload = async (name: string) => {
      const form = new FormData()
      form.set('file', new Blob(['a;b\r\n1;2\r\n'], { type: 'text/csv' }), name)
      const encoded = new Response(form)
      const reply = await quoin.quoin.server.app.inject({
        ...{ method: 'POST', url: '/api/v1/_system/assets/stream' },
        headers: {
          authorization: `Bearer ${await quoin.tokenOf('admin')}`,
          'content-type': encoded.headers.get('content-type') ?? '',
        },
        payload: Buffer.from(await encoded.arrayBuffer()),
      })
      expect(reply.statusCode, reply.body).toBeLessThan(300)
      return String(objectOf(objectOf(reply.json())._meta).guid)
    }
    const asset = await upload('report.csv')
    await send(mail('attached', { attachments: [asset, { guid: asset, name: 'März.csv' }] }))
    await eventually(() => taken('attached').length).toBe(1)
    const [{ body = '' } = {}] = taken('attached')
    expect(body).toContain('filename=report.csv')
    expect(body.split(Buffer.from('a;b\r\n1;2\r\n').toString('base64'))).toHaveLength(3)
    server.answer(451)
    const guid = await send(mail('gone', { attachments: asset }))
    await waiting(guid, { status: 'waiting', attempts: 1 })
    await quoin.manage('DELETE', `/_system/assets/${asset}`)
    due()
    await waiting(guid, {
      status: 'dead',
      attempts: 2,
      error: `The attachment report.csv is deleted: asset ${asset}.`,
    })
  })

  test.each([
    ['451', 451, 'The mail was not sent: Message failed: 451'],
    ['a dropped connection', 'drop', 'The mail was not sent:'],
  ] as const)('%s: the same mail is tried again until it is taken, once', async (what, answer, error) => {
    server.answer(answer)
    const guid = await send(mail(what))
    await waiting(guid, { status: 'waiting', attempts: 1, error: expect.stringContaining(error) })
    expect(taken(what)).toEqual([])
    server.answer(250)
    due()
    await waiting(guid, { status: 'done', attempts: 2 })
    expect(taken(what).map(({ headers }) => headers['message-id'])).toEqual([`<${guid}@example.com>`])
  })

  test('attempts and back_off are those of the block, also for recipients that are left', async () => {
    server.answer(451)
    const guid = await send(mail('twice', { attempts: 2, back_off: '2h' }))
    await waiting(guid, { status: 'waiting', attempts: 1, max_attempts: 2 })
    await quoin.advance(3_500_000)
    await waiting(guid, { status: 'waiting', attempts: 1 })
    due()
    await waiting(guid, { status: 'dead', attempts: 2 })
    server.answer(250)
    server.refuse('busy@example.com', 452)
    const to = ['lee@example.com', 'busy@example.com']
    await waiting(await send(mail('left', { to, attempts: 3 })), { status: 'done', max_attempts: 3 })
    const left = async () =>
      objectsOf(await quoin.manage('POST', '/queue/search', { filters: { status: 'waiting' } }))
    await eventually(async () => (await left()).map((one) => one.max_attempts)).toEqual([3])
    server.refuse('busy@example.com', 250)
    due()
    await eventually(() => taken('left').length).toBe(2)
  })

  test('with a key: one mail while it waits, and later ones with the same Message-ID', async () => {
    server.answer(451)
    const guid = await send(mail('named', { key: 'order 7' }))
    await waiting(guid, { status: 'waiting', attempts: 1 })
    expect(
      (await quoin.send('POST', '/mails', { body: mail('named', { key: 'order 7' }) })).body ?? null,
    ).toBeNull()
    const other = await send(mail('named', { key: 'order 8' }))
    server.answer(250)
    due()
    await waiting(guid, { status: 'done' })
    await waiting(other, { status: 'done' })
    await waiting(await send(mail('named', { key: 'order 7' })), { status: 'done' })
    const names = taken('named').map(({ headers }) => headers['message-id'])
    expect([names.length, new Set(names).size]).toEqual([3, 2])
  })

  test('550: a dead letter at once, with the reply of the server; requeued it is sent', async () => {
    server.answer(550)
    const guid = await send(mail('refused by the server'))
    await waiting(guid, { status: 'dead', attempts: 1, error: expect.stringContaining('550') })
    const logged = (await quoin.systemLog()).filter(({ message }) =>
      String(message).includes('refused by the server'),
    )
    expect(logged).toMatchObject([{ level: 'error', message: expect.stringContaining('permanently') }])
    server.answer(250)
    await quoin.manage('POST', `/queue/${guid}/requeue`)
    await waiting(guid, { status: 'done' })
  })

  test('of several recipients the one that is refused has a job of its own, and the others get one mail', async () => {
    server.refuse('full@example.com', 452)
    server.refuse('gone@example.com', 550)
    const to = ['kim@example.com', 'full@example.com', 'gone@example.com']
    const guid = await send(mail('partly', { to }))
    await waiting(guid, { status: 'done' })
    expect(taken('partly').map((one) => one.to)).toEqual([['kim@example.com']])
    const left = async () =>
      objectsOf(await quoin.manage('POST', '/queue/search', { filters: { status: 'waiting' } }))
    await eventually(async () => (await left()).map(({ attempts }) => attempts)).toEqual([1])
    server.refuse('full@example.com', 250)
    due()
    await eventually(() => taken('partly').map((one) => one.to)).toEqual([
      ['kim@example.com'],
      ['full@example.com'],
    ])
    expect(new Set(taken('partly').map(({ headers }) => headers['message-id']))).toEqual(
      new Set([`<${guid}@example.com>`]),
    )
    const dead = async () =>
      objectsOf(await quoin.manage('POST', '/queue/search', { filters: { status: 'dead' } }))
    await eventually(async () => (await dead()).map(({ error }) => String(error))).toContainEqual(
      expect.stringMatching(/550.*gone@example\.com/),
    )
    expect(server.named.filter((one) => one === 'kim@example.com')).toHaveLength(1)
  })
})

describe('TLS and signing in', () => {
  let quoin: TestQuoin | undefined
  const trusted = getCACertificates('default')
  afterAll(() => setDefaultCACertificates(trusted))

  /** Sends one mail; how its first attempt ended. */
  async function tried(url: (port: number) => string, options: Parameters<typeof openMailServer>[0]) {
    const server = await openMailServer(options)
    quoin = await openTestQuoin({ QUOIN_MAIL_URL: url(server.port), QUOIN_MAIL_FROM: FROM })
    try {
      const blueprint = await quoin.install('mails', sending)
      expect(blueprint).not.toBe('')
      const { body } = await quoin.send('POST', '/mails', { body: mail('secure') })
      const state = async () => objectOf((await quoin?.manage('GET', `/queue/${String(body)}`)) ?? null)
      await eventually(async () => (await state()).attempts).toBe(1)
      await eventually(async () => (await state()).status).not.toBe('running')
      const { status, error } = await state()
      const info: JsonValue = [await quoin.manage('GET', '/info'), await quoin.systemLog(), error ?? null]
      expect(JSON.stringify(info)).not.toMatch(/of the tests|of%20the%20tests/)
      return { status, error: String(error), taken: server.taken }
    } finally {
      await quoin.close()
      await server.close()
    }
  }

  test('a certificate that is not trusted is refused, and the mail waits', async () => {
    const { status, error, taken } = await tried((port) => `smtps://${mailCredentials}@localhost:${port}`, {
      secure: true,
    })
    expect([status, taken]).toEqual(['waiting', []])
    expect(error).toContain('self-signed certificate')
  })

  test.each<[string, (port: number) => string, Parameters<typeof openMailServer>[0], RegExp]>([
    [
      'a wrong password',
      (port) => `smtp://quoin:wrong-${'of the tests'.replaceAll(' ', '%20')}@127.0.0.1:${port}?tls=off`,
      { allowInsecureAuth: true },
      /535 Not the password of quoin: …/,
    ],
    [
      'a server without TLS where TLS is required',
      (port) => `smtp://${mailCredentials}@127.0.0.1:${port}?tls=required`,
      { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] },
      /STARTTLS/,
    ],
    ['no server', () => 'smtp://127.0.0.1:1', {}, /ECONNREFUSED/],
  ])('%s: the mail waits, and the password is in no log', async (_what, url, options, expected) => {
    const { status, error, taken } = await tried(url, options)
    expect([status, taken]).toEqual(['waiting', []])
    expect(error).toMatch(expected)
  })

  test.each<[string, string, Parameters<typeof openMailServer>[0]]>([
    ['TLS from the first byte', 'smtps', { secure: true, authOptional: false }],
    ['STARTTLS', 'smtp', { authOptional: false }],
  ])('%s, signed in', async (_what, scheme, options) => {
    setDefaultCACertificates([...trusted, localCertificate.cert])
    const { status, taken } = await tried(
      (port) => `${scheme}://${mailCredentials}@localhost:${port}`,
      options,
    )
    expect(status).toBe('done')
    expect(taken).toMatchObject([{ secure: true, user: 'quoin' }])
  })
})

describe('without settings', () => {
  test('a deploy warns, the mail waits and says which settings are missing', async () => {
    const quoin = await openTestQuoin()
    try {
      const blueprint = await quoin.install('mails', sending)
      const { notes } = objectOf(await quoin.manage('POST', `/blueprints/check/${blueprint}`))
      expect(notes).toMatchObject([
        { level: 'warn', message: expect.stringContaining('QUOIN_MAIL_URL is not set') },
      ])
      const { body } = await quoin.send('POST', '/mails', { body: mail('later') })
      await eventually(async () =>
        objectOf(await quoin.manage('GET', `/queue/${String(body)}`)),
      ).toMatchObject({
        status: 'waiting',
        error: expect.stringContaining('Set QUOIN_MAIL_URL and QUOIN_MAIL_FROM on every node'),
      })
    } finally {
      await quoin.close()
    }
  })
})

test('kill -9 while the server reads a mail: it is sent again with the same Message-ID; one that was done is not', async () => {
  const server = await openMailServer()
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase() : undefined
  const settings = {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${server.port}?tls=off`,
    QUOIN_MAIL_FROM: FROM,
    ...(temporary && { DATABASE_URL: temporary.url }),
  }
  let node = await startProcess(directory, settings)
  const post = async (path: string, body: JsonObject) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${node.address}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const parsed: JsonValue = JSON.parse(await reply.text())
    return parsed
  }
  const ids = (mails: readonly TakenMail[]) => mails.map(({ headers }) => headers['message-id'])
  try {
    const signedIn = await post('/auth/signin', { username: 'admin', password: adminPassword })
    await installOver(node.address, String(objectOf(signedIn).access_token), {
      name: 'Mails',
      blocks: sending,
    })
    const first = `<${await post('/mails', mail('first'))}@example.com>`
    await eventually(() => ids(server.taken)).toEqual([first])
    server.answer('hang')
    const second = `<${await post('/mails', mail('second'))}@example.com>`
    await eventually(() => ids(server.arrived)).toEqual([first, second])
    await node.end('SIGKILL')
    server.answer(250)
    node = await startProcess(directory, settings)
    await eventually(() => ids(server.taken)).toEqual([first, second])
    expect(ids(server.arrived)).toEqual([first, second, second])
  } finally {
    await node.end('SIGKILL')
    await server.close()
    await temporary?.drop()
    await rm(directory, { recursive: true, force: true })
  }
})
