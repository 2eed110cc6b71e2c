/** A run that fails behind its reply: it counts as failed, and its request is a dead letter that a person sends again. */
import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { textIn } from '../../src/storage/document-fields.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { openVisitor } from '../page-visitor.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const post = (uri: string, scopes = ['*public']) => ({
  ...{ type: 'on_startup_register_uri_post', in: { uri }, scopes },
})
const creates = (flow: string, storage: string, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage, set },
})

let bank: LocalServer
let isDown = false
let asked: string[] = []
let quoin: TestQuoin
beforeAll(async () => {
  bank = await startLocalServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(isDown ? 500 : 200).end('{}')
  })
  quoin = await openTestQuoin({
    QUOIN_RATE_LIMIT: '0',
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${bank.port}`,
    QUOIN_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  await quoin.manage('POST', '/_system/secrets', { name: 'HOOK', value: 'whsec_x' })
  await quoin.install('Payments', {
    pay: post('pay'),
    order: creates('@pay.flow', 'orders', '={ id: body.id }'),
    taken: { type: 'reply', in: { flow: '@order.flow', code: 202, value: 'taken' } },
    mail: {
      type: 'send_mail',
      title: 'Receipt',
      in: { flow: '@taken.flow', to: 'a@example.com', subject: 'x', text: 'x' },
    },
    call: {
      type: 'http_request',
      title: 'Bank',
      in: { flow: '@mail.flow', method: 'POST', url: `="${bank.url}/" + body.id` },
      fields: { must_succeed: true },
    },
    paid: creates('@call.flow', 'paid', '={ id: body.id, from: headers["x-from"], by: user?.username }'),
  })
  await quoin.install('Turns', {
    take: { ...post('take'), in: { uri: 'take', one_at_a_time: '=body.id' } },
    taken: { type: 'reply', in: { flow: '@take.flow', code: 202, value: 'taken' } },
    call: {
      type: 'http_request',
      in: { flow: '@taken.flow', url: `${bank.url}/take` },
      fields: { must_succeed: true },
    },
    turn: creates('@call.flow', 'turns', '={ id: body.id }'),
  })
  await quoin.install('Invites', {
    invite: post('invites/{token}'),
    taken: { type: 'reply', in: { flow: '@invite.flow', code: 202, value: 'taken' } },
    call: {
      type: 'http_request',
      in: { flow: '@taken.flow', url: `${bank.url}/invite` },
      fields: { must_succeed: true },
    },
  })
  await quoin.install('Signed', {
    hook: post('hook'),
    check: {
      type: 'check_signature',
      in: { flow: '@hook.flow', secret: 'HOOK' },
      fields: { sender: 'stripe' },
    },
    taken: { type: 'reply', in: { flow: '@check.valid', code: 202, value: 'taken' } },
    call: {
      type: 'http_request',
      in: { flow: '@taken.flow', url: `${bank.url}/hook` },
      fields: { must_succeed: true },
    },
  })
  await quoin.install('Form', {
    page: { type: 'state_page', in: { url: 'contact' }, ...open },
    form: { type: 'state_form', in: { form_id: 'contact', inputs: ['name'] } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    go: { type: 'state_redirect', in: { flow: '@form.submit', url: '/contact' } },
    call: {
      type: 'http_request',
      in: { flow: '@go.flow', url: `${bank.url}/form` },
      fields: { must_succeed: true },
    },
  })
  await quoin.install('Answered', {
    buy: post('buy'),
    sale: creates('@buy.flow', 'sales', '={ id: body.id }'),
    shop: {
      type: 'http_request',
      title: 'Shop',
      in: { flow: '@sale.flow', method: 'POST', url: `="${bank.url}/" + body.id` },
      fields: { must_succeed: true },
    },
    sold: creates('@shop.flow', 'sold', '={ id: body.id, from: headers["x-from"], by: user?.username }'),
    reply: { type: 'reply', in: { flow: '@sold.flow', code: 201, value: 'sold' } },
    look: post('look'),
    fault: { type: 'reply', in: { flow: '@look.flow', code: 503, value: 'closed' } },
    miss: post('miss'),
    missing: { type: 'fail', in: { flow: '@miss.flow', status: 404, message: 'no such thing' } },
  })
  await quoin.addUser('viewer', ['queue_view'])
  await quoin.addUser('reader', ['queue_update', 'blueprints_view', 'blueprintactions_view'])
  await quoin.addUser('builder', [
    'blueprints_update',
    'blueprints_view',
    'blueprintactions_view',
    'runs_view',
  ])
  await quoin.addUser('sender', ['queue_update', 'blueprints_view', 'blueprintactions_view', 'runs_view'])
  await quoin.addUser('keeper', ['queue_view', 'queue_update'])
  await quoin.addUser('buyer', [])
})
afterAll(async () => {
  await quoin?.close()
  await bank?.close()
})
afterEach(async () => {
  for (const letter of await letters()) await quoin.manage('DELETE', `/queue/${guidOf(letter)}`)
})
beforeEach(() => {
  isDown = true
  asked = []
})

const pay = (id: string, more: JsonObject = {}, as?: string) =>
  quoin.send('POST', '/pay', {
    body: { id, ...more },
    headers: { 'x-from': 'shop', 'x-api-token': 'secret-of-the-shop' },
    ...(as !== undefined && { as }),
  })
const letters = async () =>
  objectsOf(await quoin.manage('POST', '/queue/search', { filters: { queue: '_requests', status: 'dead' } }))
const letterOf = async (title: string): Promise<JsonObject> => {
  const found = async () => (await letters()).find((one) => one.title === title)
  await expect.poll(found, { timeout: 10_000 }).toBeDefined()
  return quoin.manage('GET', `/queue/${guidOf((await found()) ?? {})}`).then(objectOf)
}
const again = (letter: JsonObject, body?: JsonObject, as = 'keeper') =>
  quoin.send('POST', `/queue/${guidOf(letter)}/requeue`, { as, ...(body && { body }) })
const idsIn = async (storage: string) => (await quoin.documents(storage)).map(({ id }) => id)
const failedIn = async () => {
  const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}` }
  const { body: text } = await quoin.quoin.server.app.inject({ url: '/metrics', headers })
  const [, count = '0'] =
    /failed_behind_reply_total\{method="POST",route="\/api\/v1\/pay"\} (\d+)/.exec(text) ?? []
  return Number(count)
}

test('a payment that fails behind 202 counts as failed, and is sent again when a person agrees to what happens twice', async () => {
  const before = await failedIn()
  expect((await pay('one')).status).toBe(202)
  const letter = await letterOf('POST /api/v1/pay')
  expect(await failedIn()).toBe(before + 1)
  expect(letter).toMatchObject({ status: 'dead', error: expect.stringContaining('500') })
  expect(objectOf(letter.failed_in).run).toBe(objectOf(letter.data).run)
  const kinds = objectsOf(objectOf(letter.data).happened).map(({ kind }) => textIn(kind))
  expect(kinds.toSorted()).toEqual(['call', 'mail', 'write'])
  expect(JSON.stringify(letter)).not.toContain('secret-of-the-shop')
  isDown = false
  expect((await again(letter, { repeat: true }, 'viewer')).status).toBe(403)
  const refused = await again(letter)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('call of \\"Bank\\"')])
  expect(refused.text).toContain('mail of \\"Receipt\\"')
  expect(await idsIn('orders')).toEqual(['one'])
  expect((await again(letter, { repeat: true })).status).toBe(200)
  await expect.poll(() => idsIn('paid'), { timeout: 10_000 }).toEqual(['one'])
  expect([await idsIn('orders'), asked]).toEqual([
    ['one', 'one'],
    ['POST /one', 'POST /one'],
  ])
  expect(await quoin.documents('paid')).toMatchObject([{ id: 'one', from: 'shop' }])
  expect(await letters()).toEqual([])
  const audited = (await quoin.documents(systemStorages.auditLogs)).filter(
    ({ guid }) => guid === guidOf(letter),
  )
  expect(audited).toMatchObject([{ category: 'queue', user: { username: 'keeper' } }])
})

test('a request that fails again is one dead letter again, not two', async () => {
  await pay('two')
  const letter = await letterOf('POST /api/v1/pay')
  await again(letter, { repeat: true })
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2)
  await expect.poll(letters, { timeout: 10_000 }).toHaveLength(1)
  expect(guidOf((await letters())[0] ?? {})).toBe(guidOf(letter))
})

test('it is sent again on the deployed version, for the user who sent it', async () => {
  await pay('three', {}, 'buyer')
  const letter = await letterOf('POST /api/v1/pay')
  const blocks = objectsOf(await quoin.manage('POST', '/blueprintactions/search', { limit: 200 }))
  const bank = blocks.find(({ title }) => title === 'Bank')
  const pins = JSON.stringify(bank?.in_pins).replace('/\\" + body.id', '/corrected\\" + body.id')
  const blueprint = textIn(bank?.blueprint_guid)
  await quoin.manage('PUT', `/blueprintactions/${guidOf(bank ?? {})}`, { in_pins: JSON.parse(pins) })
  await quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  await quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
  isDown = false
  await again(letter, { repeat: true })
  await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['POST /three', 'POST /correctedthree'])
  const paid = async () => (await quoin.documents('paid')).find(({ id }) => id === 'three')
  await expect.poll(paid, { timeout: 10_000 }).toMatchObject({ by: 'buyer' })
})

test('a password in the body is not stored, and its request is not sent again', async () => {
  await pay('four', { password: 'correct horse' })
  const letter = await letterOf('POST /api/v1/pay')
  expect(JSON.stringify(letter)).not.toContain('correct horse')
  const refused = await again(letter, { repeat: true })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('password or token')])
})

test('a token in the path is neither in the title nor in the address', async () => {
  await quoin.send('POST', '/invites/k%33y-of-ann', { body: { id: 'x' } })
  const letter = await letterOf('POST /api/v1/invites/{token}')
  expect(JSON.stringify(letter)).not.toMatch(/key-of-ann|k%33y/)
})

test('a request to an endpoint that runs one at a time does what it says when it is sent again', async () => {
  await quoin.send('POST', '/take', { body: { id: 'a' } })
  const letter = await letterOf('POST /api/v1/take')
  isDown = false
  expect((await again(letter, { repeat: true })).status).toBe(200)
  await expect.poll(() => idsIn('turns'), { timeout: 10_000 }).toEqual(['a'])
  expect(await letters()).toEqual([])
})

test('a body that no job can hold is told, not lost', async () => {
  await pay('five', { note: 'x'.repeat(1_048_400) })
  const letter = await letterOf('POST /api/v1/pay')
  const refused = await again(letter, { repeat: true })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('too large')])
})

test('a request is not sent again where the blueprint has gone, and stays a dead letter', async () => {
  await pay('six')
  const letter = await letterOf('POST /api/v1/pay')
  const blueprint = textIn(objectOf(letter.data).blueprint)
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await again(letter, { repeat: true })
  const error = async () => textIn(objectOf(await quoin.manage('GET', `/queue/${guidOf(letter)}`)).error)
  await expect.poll(error, { timeout: 10_000 }).toContain('not active')
  await quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
})

test('a signed webhook is sent again after its signature is too old for a new one', async () => {
  const text = JSON.stringify({ id: 'evt' })
  const at = Math.floor(quoin.now() / 1000)
  const sum = createHmac('sha256', 'whsec_x').update(`${at}.${text}`).digest('hex')
  const sent = await quoin.send('POST', '/hook', {
    body: { id: 'evt' },
    headers: { 'stripe-signature': `t=${at},v1=${sum}` },
  })
  expect([sent.status, sent.text]).toEqual([202, expect.anything()])
  const letter = await letterOf('POST /api/v1/hook')
  quoin.advance(3_600_000)
  isDown = false
  await again(letter, { repeat: true })
  await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['GET /hook', 'GET /hook'])
  await expect.poll(letters, { timeout: 10_000 }).toEqual([])
})

test('a form whose flow fails behind its redirect is a dead letter that only its visitor can send again', async () => {
  const visitor = openVisitor(await quoin.quoin.server.listen())
  const sent = await visitor.submit(await visitor.get('/contact'), 'contact', { name: 'Ann' })
  expect(sent.status).toBe(303)
  const letter = await letterOf('POST /contact')
  const refused = await again(letter, { repeat: true })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('form of a page')])
})

/** The newest run of the path, after a request that was answered so. */
const runOf = async (path: string, status: number, body: JsonObject, as?: string): Promise<JsonObject> => {
  quoin.advance(61_000)
  const headers = { 'x-from': 'shop', 'x-api-token': 'secret-of-the-shop' }
  const sent = await quoin.send('POST', `/${path}`, { body, headers, ...(as !== undefined && { as }) })
  expect([sent.status, sent.text]).toEqual([status, expect.anything()])
  const runs = objectsOf(await quoin.manage('GET', '/runs?failed=true'))
  const run = runs.find(({ label }) => label === `POST ${path}`)
  return quoin.manage('GET', `/runs/${textIn(run?.guid)}`).then(objectOf)
}
const sendAgain = (run: JsonObject, as: string, body?: JsonObject) =>
  quoin.send('POST', `/runs/${textIn(run.guid)}/send_again`, { as, ...(body && { body }) })

test('a request that was answered with a failure is sent again from its run once, when a person agrees to what happens twice', async () => {
  const run = await runOf('buy', 503, { id: 'tea' }, 'buyer')
  expect(run.send_again).toMatchObject({
    title: 'POST /api/v1/buy',
    cannot: '',
    happened: [
      { kind: 'write', count: 1 },
      { kind: 'call', title: 'Shop', count: 1 },
    ],
  })
  expect(JSON.stringify(run)).not.toContain('secret-of-the-shop')
  expect(await letters()).toEqual([])
  isDown = false
  for (const as of ['viewer', 'keeper', 'reader', 'builder'])
    expect((await sendAgain(run, as, { repeat: true })).status).toBe(403)
  const refused = await sendAgain(run, 'sender')
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('call of \\"Shop\\"')])
  expect([await idsIn('sales'), await idsIn('sold'), asked, await letters()]).toEqual([
    ['tea'],
    [],
    ['POST /tea'],
    [],
  ])
  const both = await Promise.all([1, 2].map(() => sendAgain(run, 'sender', { repeat: true })))
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  await expect
    .poll(() => quoin.documents('sold'), { timeout: 10_000 })
    .toMatchObject([{ id: 'tea', from: 'shop', by: 'buyer' }])
  const job = textIn(objectOf(both.find(({ status }) => status === 200)?.body).job)
  await expect
    .poll(async () => objectOf(await quoin.manage('GET', `/queue/${job}`)).status, { timeout: 10_000 })
    .toBe('done')
  expect((await sendAgain(run, 'sender', { repeat: true })).status).toBe(409)
  expect([await idsIn('sales'), asked]).toEqual([
    ['tea', 'tea'],
    ['POST /tea', 'POST /tea'],
  ])
  const audited = (await quoin.documents(systemStorages.auditLogs)).filter(({ guid }) => guid === job)
  expect(audited).toMatchObject([{ category: 'queue', user: { username: 'sender' } }])
})

test('one that fails again is one dead letter, which its run sends again', async () => {
  const run = await runOf('buy', 503, { id: 'milk' })
  await sendAgain(run, 'sender', { repeat: true })
  await expect
    .poll(async () => (await letters()).map(({ title }) => title), { timeout: 10_000 })
    .toEqual(['POST /api/v1/buy'])
  const letter = await letterOf('POST /api/v1/buy')
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2)
  isDown = false
  await expect.poll(letters, { timeout: 10_000 }).toHaveLength(1)
  expect((await sendAgain(run, 'sender', { repeat: true })).body).toEqual({ job: guidOf(letter) })
  await expect.poll(letters, { timeout: 10_000 }).toEqual([])
  await expect.poll(async () => (await idsIn('sold')).includes('milk'), { timeout: 10_000 }).toBe(true)
})

test('runs whose request cannot be sent again say so, and nothing happens', async () => {
  const table: readonly [path: string, status: number, body: JsonObject, reason: string][] = [
    ['buy', 503, { id: 'a', password: 'correct horse' }, 'password or token'],
    ['buy', 503, { id: 'b', note: 'x'.repeat(70_000) }, 'too long'],
    ['miss', 404, { id: 'c' }, 'Only the recorded request'],
  ]
  for (const [path, status, body, reason] of table) {
    const run = await runOf(path, status, body)
    asked = []
    const refused = await sendAgain(run, 'sender', { repeat: true })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(reason)])
    expect([asked, await letters()]).toEqual([[], []])
    const { database } = quoin.quoin
    const stored = JSON.stringify(await database.session().get('_runs', textIn(run.guid)))
    expect(stored).not.toContain('correct horse')
  }
  const unknown = { guid: '01900000-0000-7000-8000-000000000000' }
  expect((await sendAgain(unknown, 'sender', { repeat: true })).status).toBe(404)
})

test('a flow that replies 503 itself and has done nothing is sent again without being asked twice, and a dead letter says why', async () => {
  const run = await runOf('look', 503, { id: 'x' })
  expect(run.send_again).toMatchObject({ cannot: '', happened: [] })
  expect((await sendAgain(run, 'sender')).status).toBe(200)
  const letter = await letterOf('POST /api/v1/look')
  await expect
    .poll(async () => textIn(objectOf(await quoin.manage('GET', `/queue/${guidOf(letter)}`)).error), {
      timeout: 10_000,
    })
    .toContain('status 503')
})

test('a run that failed behind its reply is sent again as its dead letter only', async () => {
  await pay('seven')
  const letter = await letterOf('POST /api/v1/pay')
  const guid = textIn(objectOf(letter.data).run)
  expect(objectOf(await quoin.manage('GET', `/runs/${guid}`)).send_again).toBeNull()
  expect((await sendAgain({ guid }, 'sender', { repeat: true })).status).toBe(409)
})
