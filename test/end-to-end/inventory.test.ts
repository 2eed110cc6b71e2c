/** `examples/inventory`, over HTTP on the real program. */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { xlsxRows } from '../../src/blocks/rows/xlsx-rows.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openAssetPlace } from '../asset-place.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import {
  type ExampleFixture,
  type ExampleReply,
  eventually,
  installExample,
  openExampleFixture,
  passTime,
  type Sent,
  statusesOf,
} from './example-fixture.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin } from './harness.ts'

let fixture: ExampleFixture
let mails: MailServer
const values = { STAFF_MAIL: 'staff@example.com' }
const settings = () => ({
  QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
  QUOIN_MAIL_FROM: 'Stock <stock@example.com>',
})
/** Guids of the suppliers by name. */
const suppliers = new Map<string, string>()

beforeAll(async () => {
  mails = await openMailServer()
  fixture = await openExampleFixture('inventory', {
    values,
    // 2,000 rows are 4,000 statements: a machine that does other things meanwhile is slow, not wrong.
    settings: { ...settings(), QUOIN_RUN_DEADLINE: '150000' },
  })
  for (const name of ['Kern', 'Ohm']) {
    const reply = await fixture.call('POST', '/suppliers', { body: { name: ` ${name} ` } })
    expect(reply).toMatchObject({ status: 201, body: { name } })
    suppliers.set(name, guidOf(reply.body))
  }
})
afterAll(async () => {
  await fixture.close()
  await mails.close()
})

const good = (number: string, more: JsonObject = {}) => ({
  number,
  name: `Good ${number}`,
  supplier: suppliers.get('Kern') ?? '',
  price: 2.5,
  ...more,
})
const add = (number: string, more: JsonObject = {}) =>
  fixture.call('POST', '/goods', { body: good(number, more) })
const move = (number: JsonValue, quantity: JsonValue, more: JsonObject = {}) =>
  fixture.call('POST', '/movements', { body: { number, quantity, ...more } })
const list = async (query: string) => objectsOf((await fixture.call('GET', `/goods?${query}`)).body)
const stockOf = async (number: string) =>
  (await list('limit=200')).find((one) => one.number === number)?.stock
const atOnce = (send: (index: number) => Promise<ExampleReply>) =>
  Promise.all(Array.from({ length: 50 }, (_none, index) => send(index)))
const messagesAbout = (number: string, among = mails.taken) =>
  among.filter(({ headers }) => headers.subject === `Good ${number} (${number}) is low`)

describe('goods', () => {
  test('are listed with the names of their suppliers', async () => {
    expect(await add('bolt')).toMatchObject({ status: 201, body: { number: 'bolt', stock: 0, min_stock: 0 } })
    await add('saw', { supplier: suppliers.get('Ohm') ?? '', name: 'Japanese saw' })
    const names = async (query: string) =>
      (await list(query)).map(({ number, supplier_name }) => `${number} of ${supplier_name}`).sort()
    expect(await names('')).toEqual(['bolt of Kern', 'saw of Ohm'])
    expect(await names(`supplier=${suppliers.get('Ohm')}`)).toEqual(['saw of Ohm'])
    expect(await names('q=japan*')).toEqual(['saw of Ohm'])
    expect(await names('low=true')).toEqual([])
    expect(await names('limit=1&offset=1')).toEqual(['bolt of Kern'])
    expect(await names('offset=5')).toEqual([])
  })

  test.each<[string, JsonObject, string]>([
    ['no number', { number: null }, 'number'],
    ['a number with a space', { number: 'a b' }, 'number'],
    ['a blank name', { name: ' ' }, 'name'],
    ['a negative price', { price: -1 }, 'price'],
    ['a price that is text', { price: 'cheap' }, 'price'],
    ['half a piece as minimum', { min_stock: 1.5 }, 'min_stock'],
  ])('%s is 400 and stores nothing', async (_what, wrong, field) => {
    const before = await list('limit=200')
    const reply = await fixture.call('POST', '/goods', { body: { ...good('wrong'), ...wrong } })
    expect(reply.status).toBe(400)
    expect(objectOf(reply.body).error).toContain(field)
    expect(await list('limit=200')).toEqual(before)
  })

  test('of an unknown supplier are refused', async () => {
    const reply = await add('orphan', { supplier: '01900000-0000-7000-8000-000000000000' })
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining('supplier') } })
    expect(await stockOf('orphan')).toBeUndefined()
  })

  test('50 at once with one number: one is stored', async () => {
    expect(statusesOf(await atOnce(() => add('same')))).toEqual({ 201: 1, 409: 49 })
    expect((await list('limit=200')).filter(({ number }) => number === 'same')).toHaveLength(1)
    const supplier = await fixture.call('POST', '/suppliers', { body: { name: 'Kern' } })
    expect(supplier).toMatchObject({ status: 409, body: { error: expect.stringContaining('name') } })
  })

  test('an anonymous caller finds no door', async () => {
    for (const [method, path] of [
      ['GET', '/goods'],
      ['POST', '/goods'],
      ['POST', '/movements'],
      ['POST', '/suppliers'],
      ['GET', '/stock-value'],
    ] as const)
      expect((await fixture.call(method, path, { anonymous: true })).status).toBe(404)
  })
})

describe('movements', () => {
  test('change the stock, and never below zero', async () => {
    await add('nut')
    expect(await move('nut', 3, { note: 'delivered' })).toMatchObject({
      status: 201,
      body: { number: 'nut', quantity: 3, stock: 3, note: 'delivered', by: 'admin' },
    })
    const refused = await move('nut', -4)
    expect(refused).toMatchObject({
      status: 409,
      body: { error: 'Only 3 of nut are in stock.', code: 'OUT_OF_STOCK' },
    })
    expect(await move('nut', -3)).toMatchObject({ status: 201, body: { stock: 0 } })
    expect(await stockOf('nut')).toBe(0)
  })

  test('50 at once for 31 pieces: 31 leave, and each has its record', async () => {
    await add('storm')
    await move('storm', 31)
    const replies = await atOnce(() => move('storm', -1))
    expect(statusesOf(replies)).toEqual({ 201: 31, 409: 19 })
    expect(await stockOf('storm')).toBe(0)
    const left = replies
      .filter(({ status }) => status === 201)
      .map(({ body }) => Number(objectOf(body).stock))
      .sort((a, b) => a - b)
    expect(left).toEqual(Array.from({ length: 31 }, (_none, index) => index))
  })

  test.each<[JsonValue, JsonValue, number]>([
    ['nut', 1.5, 400],
    ['nut', '2', 400],
    ['nut', null, 400],
    [null, 1, 400],
    ['no-such-good', 1, 404],
  ])('%j by %j is %i', async (number, quantity, status) => {
    expect((await move(number, quantity)).status).toBe(status)
    expect(await stockOf('nut')).toBe(0)
  })

  test('the same request twice moves once', async () => {
    await add('once')
    const headers = { 'idempotency-key': 'delivery 7' }
    const body = { number: 'once', quantity: 5 }
    for (let time = 0; time < 2; time += 1)
      expect(await fixture.call('POST', '/movements', { body, headers })).toMatchObject({ status: 201 })
    expect(await stockOf('once')).toBe(5)
  })
})

describe('more than 100 pieces', () => {
  const waits = async (number: string) => {
    const title = `pieces of ${number}`
    const { body } = await fixture.call('POST', '/_system/waits/search', { body: {} })
    return objectsOf(body).filter((one) => String(one.title).endsWith(title))
  }
  const decide = (wait: JsonObject | undefined, way: string, sent: Sent = {}) =>
    fixture.call('POST', `/_system/waits/${guidOf(wait)}/continue`, { body: { way }, ...sent })
  const ask = async (number: string, quantity: number) => {
    const reply = await move(number, quantity, { note: 'for the fair' })
    expect(reply).toMatchObject({
      status: 202,
      body: { approval: expect.stringMatching(/^\/_approvals\//) },
    })
  }

  test('leave when that was approved, once, also after all nodes were killed', async () => {
    await add('heap')
    await move('heap', 500)
    expect(await move('heap', -100)).toMatchObject({ status: 201, body: { stock: 400 } })
    await ask('heap', -101)
    await fixture.restart('SIGKILL')
    expect(await stockOf('heap')).toBe(400)
    const [wait, ...others] = await waits('heap')
    expect([wait?.title, others]).toEqual(['101 pieces of heap', []])
    expect((await decide(wait, 'approved', { anonymous: true })).status).toBe(401)
    expect(await stockOf('heap')).toBe(400)
    const decided = await Promise.all(Array.from({ length: 5 }, () => decide(wait, 'approved')))
    expect(decided.filter(({ status }) => status === 200)).toHaveLength(1)
    await eventually(() => stockOf('heap')).toBe(299)
  })

  test('stay when that was rejected, or there are too few by then', async () => {
    await add('pile')
    await move('pile', 150)
    await ask('pile', -120)
    await decide((await waits('pile'))[0], 'rejected')
    await ask('pile', -151)
    await decide((await waits('pile'))[0], 'approved')
    await eventually(async () => (await fixture.jobs('_waits')).some((job) => job.startsWith('dead'))).toBe(
      true,
    )
    expect(await stockOf('pile')).toBe(150)
  })
})

test('the value of the stock, by supplier', async () => {
  await add('dear', { supplier: suppliers.get('Ohm') ?? '', price: 0.1 })
  await move('dear', 3)
  await add('dearer', { supplier: suppliers.get('Ohm') ?? '', price: 0.2 })
  await move('dearer', 1)
  const { body } = await fixture.call('GET', '/stock-value')
  const values = objectsOf(objectOf(body).suppliers).map(({ name, value }) => [name, value])
  expect(Object.fromEntries(values)).toMatchObject({ Ohm: 0.5 })
  const goods = await list('limit=200')
  expect(goods.find((good) => good.number === 'dear')).toMatchObject({ price: 0.1, stock: 3, value: 0.3 })
  const kern = goods
    .filter(({ supplier_name }) => supplier_name === 'Kern')
    .reduce((sum, { price, stock }) => sum + Number(price) * Number(stock), 0)
  expect(Object.fromEntries(values)).toEqual({ Kern: kern, Ohm: 0.5 })
  expect(objectOf(body).total).toBe(kern + 0.5)
})

describe('a good that runs low', () => {
  test('is told once each time it falls below its minimum, also in a storm', async () => {
    await add('low', { min_stock: 10 })
    await move('low', 60)
    expect(statusesOf(await atOnce(() => move('low', -1)))).toEqual({ 201: 50 })
    expect(await stockOf('low')).toBe(10)
    await move('low', -1)
    await eventually(() => messagesAbout('low').length).toBe(1)
    expect(messagesAbout('low')[0]).toMatchObject({
      to: ['staff@example.com'],
      text: '9 left, minimum 10',
    })
    await move('low', -1)
    await move('low', 40)
    expect(statusesOf(await atOnce(() => move('low', -1)))).toEqual({ 201: 48, 409: 2 })
    await eventually(() => messagesAbout('low').length).toBe(2)
    // Whatever was still to come has come: a later good's message is there.
    await add('later', { min_stock: 1 })
    await move('later', 1)
    await move('later', -1)
    await eventually(() => messagesAbout('later').length).toBe(1)
    expect(messagesAbout('low').map(({ text }) => text)).toEqual(['9 left, minimum 10', '9 left, minimum 10'])
  })

  test('is told under one name after the mail server and Quoin itself were down', async () => {
    mails.answer(451)
    await add('late', { min_stock: 1 })
    await move('late', 1)
    await move('late', -1)
    await eventually(() => messagesAbout('late', mails.arrived).length).toBeGreaterThan(0)
    await fixture.restart('SIGKILL')
    mails.answer(250)
    await eventually(async () =>
      (await fixture.jobs('_mail')).filter((job) => !job.startsWith('done')),
    ).toEqual([])
    // An event whose end a killed node could not store is delivered again: mailboxes know its mail by the name.
    expect(messagesAbout('late').length).toBeGreaterThan(0)
    const names = messagesAbout('late', mails.arrived).map(({ headers }) => headers['message-id'])
    expect(new Set(names).size).toBe(1)
  })
})

test('each morning the staff gets the stock as XLSX', async () => {
  const place = await openAssetPlace()
  const quoin = await openTestQuoin({ ...place.settings, ...settings() })
  try {
    quoin.advance(Date.parse('2027-01-15T04:30:00Z') - Date.now())
    await installExample(quoin, 'inventory', values)
    const post = (path: string, body: JsonObject) => quoin.send('POST', path, { as: 'admin', body })
    const supplier = guidOf((await post('/suppliers', { name: 'Kern' })).body)
    for (const number of ['b', 'a'])
      expect((await post('/goods', { ...good(number), supplier })).status).toBe(201)
    const reports = () => mails.taken.filter(({ headers }) => headers.subject === 'Stock report')
    // The scheduler sleeps in real time, and looks at its clock again when a blueprint is deployed.
    const nextMorning = async (milliseconds: number) => {
      await passTime(quoin, milliseconds)
      await quoin.install(`After ${milliseconds}`, {})
    }
    await nextMorning(3_600_000)
    await eventually(() => reports().length).toBe(1)
    const [{ body = '' } = {}] = reports()
    const [, name, encoded] =
      /filename="(stock [^"]+)"[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/.exec(body) ?? []
    expect(name).toBe('stock 2027-01-15.xlsx')
    const bytes = Buffer.from(encoded ?? '', 'base64')
    const rows: unknown[] = []
    const read = (start: number, end: number) => Readable.from([bytes.subarray(start, end + 1)])
    for await (const { cells } of xlsxRows({ size: bytes.length, read })) rows.push(cells)
    expect(rows).toEqual([
      ['Number', 'Name', 'Stock', 'Minimum', 'Price'],
      ['a', 'Good a', 0, 0, 2.5],
      ['b', 'Good b', 0, 0, 2.5],
    ])
    await nextMorning(24 * 3_600_000)
    await eventually(() => reports().length).toBe(2)
  } finally {
    await quoin.close()
    await place.close()
  }
})

describe('import', () => {
  const csv = (rows: readonly string[]) => ['Number;Name;Supplier;Price;Min stock', ...rows].join('\n')
  const send = (text: string) => fixture.call('POST', '/goods/import', { body: { csv: text } })
  const count = 2_000
  const rows = (price: string) =>
    Array.from({ length: count }, (_none, index) => `I-${index};Imported ${index};Kern;${price};`)

  test('2,000 rows are new goods at first, and updates then', async () => {
    expect(await send(csv(rows('1.25')))).toMatchObject({ status: 201, body: { rows: count } })
    await move('I-7', 5)
    expect(await send(csv(rows('1.5')))).toMatchObject({ status: 201, body: { rows: count } })
    const [seventh, ...others] = await list('q="Imported 7"')
    expect(others).toEqual([])
    expect(seventh).toMatchObject({
      number: 'I-7',
      price: 1.5,
      stock: 5,
      min_stock: 0,
      supplier_name: 'Kern',
    })
    expect(await list(`limit=200&offset=${count - 100}&q=imported`)).toHaveLength(100)
  })

  test('many at once of the same new goods store each of them once', async () => {
    const some = csv(Array.from({ length: 60 }, (_none, index) => `S-${index};Simultaneous ${index};Kern;1;`))
    const replies = await Promise.all(Array.from({ length: 8 }, () => send(some)))
    expect(statusesOf(replies)).toEqual({ 201: 8 })
    const numbers = (await list('limit=200&q=simultaneous')).map(({ number }) => number)
    expect([numbers.length, new Set(numbers).size]).toEqual([60, 60])
  })

  test('bad lines are named, all of them, and nothing is stored', async () => {
    const reply = await send(
      csv([
        'N-1;Fine;Kern;1;2',
        '"N 2";Space;Kern;1;',
        'N-3;"Two\nlines";Kern;1;',
        'N-4;;Kern;1;',
        'N-5;Dear;Kern;12,50;',
        'N-6;Half;Kern;1;0.5',
        'N-7;Whose;Nowhere & Sons;1;',
      ]),
    )
    expect(reply.status).toBe(400)
    const { error, code, details } = objectOf(reply.body)
    const pattern = 'number must fit the pattern ^[A-Za-z0-9-]{1,40}$'
    expect(code).toBe('WRONG_ROWS')
    expect(error).toContain(`Nothing was stored. Line 3: `)
    expect(error).toContain(pattern)
    const lines = objectsOf(objectOf(details).lines).map(({ line, fields, reason }) => [line, fields, reason])
    expect(lines).toEqual([
      [3, ['number'], expect.stringContaining(pattern)],
      [6, ['name'], expect.stringContaining('name is required')],
      [7, ['price'], expect.stringContaining('price is not a number')],
      [8, ['min_stock'], expect.stringContaining('min_stock must be a whole number')],
      [9, ['supplier'], expect.stringContaining('suppliers has none with this name')],
    ])
    expect(await list('q="Fine"')).toEqual([])
  })

  test.each([
    ['number\n"1', 'never closed'],
    ['number;name\n1;2;3', 'more cells in line 2'],
  ])('what is no CSV is 400: %j', async (text, reason) => {
    const reply = await send(text)
    expect(reply.status).toBe(400)
    expect(objectOf(reply.body).error).toContain(reason)
  })
})
