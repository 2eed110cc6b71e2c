/** `examples/booking`: days and hours by a clock that the test moves, the rest over HTTP on the real program. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import {
  type ExampleFixture,
  eventually,
  installExample,
  openExampleFixture,
  passTime,
  statusesOf,
} from './example-fixture.ts'
import { type Answer, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let mails: MailServer
const values = () => ({ BASE_URL: 'https://book.example' })
const settings = () => ({
  QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
  QUOIN_MAIL_FROM: 'Booking <book@example.com>',
})

beforeAll(async () => {
  mails = await openMailServer()
})
afterAll(() => mails.close())

const mailsTo = (email: string) => mails.taken.filter(({ to }) => to.includes(email))
/** The token of the link in the last message to this address. */
const tokenFor = (email: string) =>
  /https:\/\/book\.example\/api\/v1\/bookings\/([\w-]{43})\/confirm$/.exec(
    mailsTo(email).at(-1)?.text ?? '',
  )?.[1] ?? 'none'
const slotsOf = (body: JsonValue | undefined) => objectsOf(body).map(({ slot }) => String(slot))
const visitor = (slot: string, email: string): JsonObject => ({ slot, name: 'Ann', email })

describe('by the clock', () => {
  let quoin: TestQuoin

  beforeAll(async () => {
    quoin = await openTestQuoin(settings())
    quoin.advance(Date.parse('2027-01-15T12:00:00Z') - Date.now())
    await installExample(quoin, 'booking', values())
  })
  afterAll(() => quoin.close())

  const open = (body: JsonObject) => quoin.send('POST', '/days', { as: 'admin', body })
  const free = async (day: string) => objectsOf((await quoin.send('GET', `/slots?day=${day}`)).body)
  const statusOf = async (email: string) =>
    (await quoin.documents('bookings')).filter((one) => one.email === email).map(({ status }) => status)
  const book = async (slot: string, email: string) => {
    const reply = await quoin.send('POST', '/bookings', { body: visitor(slot, email) })
    expect(reply.status, reply.text).toBe(201)
    await eventually(() => mailsTo(email).length).toBe(1)
  }
  const confirm = (email: string) => quoin.send('GET', `/bookings/${tokenFor(email)}/confirm`)
  /** Every job that is due has ended. */
  const quiet = (waiting: number) =>
    eventually(async () => {
      const jobs = objectsOf(await quoin.manage('POST', '/queue/search', { limit: 1_000 }))
      return jobs.filter(({ status }) => status !== 'done').length
    }).toBe(waiting)

  test.each([
    ['an ordinary day', '2027-02-01', 12, '2027-01-31T23:00:00.000Z', '05:30'],
    ['clocks go forward', '2027-03-28', 10, '2027-03-27T23:00:00.000Z', '05:30'],
    ['clocks go back', '2027-10-31', 14, '2027-10-30T22:00:00.000Z', '05:30'],
  ])('six hours from midnight, %s', async (_what, day, count, first, last) => {
    for (let time = 0; time < 2; time += 1)
      expect(await open({ day, from: '00:00', to: '06:00' })).toMatchObject({
        status: 201,
        body: { day, slots: count },
      })
    const slots = await free(day)
    expect(slots.map(({ start }) => start)).toEqual(
      Array.from({ length: count }, (_none, index) =>
        new Date(Date.parse(first) + index * 30 * MINUTE).toISOString(),
      ),
    )
    expect([slots[0]?.time, slots.at(-1)?.time]).toEqual(['00:00', last])
  })

  test.each<[string, JsonObject]>([
    ['no day', {}],
    ['a day that is none', { day: '2027-02-30' }],
    ['hours the other way round', { day: '2027-02-02', from: '10:00', to: '09:00' }],
    ['an hour that is none', { day: '2027-02-02', from: '24:00' }],
    ['yesterday', { day: '2027-01-14' }],
    ['the day after a year', { day: '2028-01-16' }],
  ])('%s is refused', async (_what, body) => {
    const before = await quoin.documents('slots')
    expect((await open(body)).status).toBe(400)
    expect(await quoin.documents('slots')).toEqual(before)
  })

  test('slots that are over are neither free nor to be booked', async () => {
    await open({ day: '2027-01-15', from: '12:00', to: '15:00' })
    const slots = await free('2027-01-15')
    expect(slots.map(({ time }) => time)).toEqual(['13:30', '14:00', '14:30'])
    const over = (await quoin.documents('slots')).find(({ start }) => start === '2027-01-15T11:30:00.000Z')
    const guid = String(objectOf(over?._meta).guid)
    const reply = await quoin.send('POST', '/bookings', { body: visitor(guid, 'late@example.com') })
    expect(reply).toMatchObject({ status: 409, body: { code: 'TAKEN' } })
  })

  test('unconfirmed bookings expire and free their slots; confirmed ones are reminded a day before, once', async () => {
    await open({ day: '2027-02-08' })
    const day = await free('2027-02-08')
    expect(day).toHaveLength(16)
    const [first = '', second = '', third = ''] = slotsOf(day)
    await book(first, 'forgets@example.com')
    await book(second, 'comes@example.com')
    await book(third, 'cancels@example.com')
    expect(await free('2027-02-08')).toHaveLength(13)
    for (const email of ['comes@example.com', 'cancels@example.com'])
      for (let time = 0; time < 2; time += 1)
        expect(await confirm(email)).toMatchObject({
          status: 200,
          body: expect.stringMatching(/is confirmed\.$/),
        })

    await passTime(quoin, 16 * MINUTE)
    await eventually(() => statusOf('forgets@example.com')).toEqual(['expired'])
    await quiet(2)
    expect(await statusOf('comes@example.com')).toEqual(['confirmed'])
    expect(await free('2027-02-08')).toHaveLength(14)
    expect(await confirm('forgets@example.com')).toMatchObject({ status: 409 })
    expect(await statusOf('forgets@example.com')).toEqual(['expired'])

    const cancel = () =>
      quoin.send('POST', `/bookings/${tokenFor('cancels@example.com')}/cancel`, { body: {} })
    expect(await cancel()).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect(await cancel()).toMatchObject({ status: 409, body: { error: 'The booking is cancelled.' } })
    expect(await free('2027-02-08')).toHaveLength(15)

    // 9:30 in Berlin is 8:30 UTC.
    await passTime(quoin, Date.parse('2027-02-07T08:29:00Z') - quoin.now())
    await quiet(2)
    expect(mailsTo('comes@example.com')).toHaveLength(1)
    await passTime(quoin, 31 * MINUTE)
    await eventually(() => mailsTo('comes@example.com').length).toBe(2)
    expect(mailsTo('comes@example.com')[1]).toMatchObject({
      headers: { from: 'Booking <book@example.com>', subject: 'Your booking tomorrow' },
      text: 'We expect you on 2027-02-08 at 09:30.',
    })
    await passTime(quoin, 25 * HOUR)
    await quiet(0)
    expect(mailsTo('comes@example.com')).toHaveLength(2)
    expect(mailsTo('cancels@example.com')).toHaveLength(1)
    expect(mailsTo('forgets@example.com')).toHaveLength(1)
  })

  test('a booking for tomorrow needs no reminder; three for one day are the most', async () => {
    await passTime(quoin, Date.parse('2027-03-01T12:00:00Z') - quoin.now())
    await open({ day: '2027-03-02' })
    const [first = '', ...others] = slotsOf(await free('2027-03-02'))
    await book(first, 'soon@example.com')
    expect((await confirm('soon@example.com')).status).toBe(200)
    await quiet(1)
    expect(mailsTo('soon@example.com')).toHaveLength(1)
    const replies: Answer[] = []
    for (const slot of others.slice(0, 3))
      replies.push(await quoin.send('POST', '/bookings', { body: visitor(slot, 'Soon@Example.com') }))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 429])
    expect(replies[2]?.body).toMatchObject({ code: 'TOO_MANY' })
    expect(slotsOf(await free('2027-03-02'))).toContain(others[2])
    await open({ day: '2027-03-03' })
    const [next = ''] = slotsOf(await free('2027-03-03'))
    expect((await quoin.send('POST', '/bookings', { body: visitor(next, 'soon@example.com') })).status).toBe(
      201,
    )
  })
})

describe('over HTTP', () => {
  let fixture: ExampleFixture
  let day = ''

  beforeAll(async () => {
    fixture = await openExampleFixture('booking', {
      values: values(),
      settings: settings(),
    })
    day = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10)
    expect((await fixture.call('POST', '/days', { body: { day } })).status).toBe(201)
  })
  afterAll(() => fixture.close())

  const free = async () => slotsOf((await fixture.call('GET', `/slots?day=${day}`, { anonymous: true })).body)
  const book = (slot: string, email: string, more: JsonObject = {}) =>
    fixture.call('POST', '/bookings', { body: { ...visitor(slot, email), ...more }, anonymous: true })
  const bookings = async () => objectsOf((await fixture.call('GET', `/bookings?day=${day}`)).body)

  test('50 at once for one slot: one has it', async () => {
    const [slot = ''] = await free()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_none, index) => book(slot, `visitor-${index}@example.com`)),
    )
    expect(statusesOf(replies)).toEqual({ 201: 1, 409: 49 })
    expect(await bookings()).toHaveLength(1)
    expect(await free()).not.toContain(slot)
    const [booking] = await bookings()
    await eventually(() => mailsTo(String(booking?.email)).length).toBe(1)
    expect(mails.taken.filter(({ to }) => /^visitor-/.test(to.join()))).toHaveLength(1)
  })

  test('one address for 15 slots at once gets three of them', async () => {
    const slots = await free()
    const replies = await Promise.all(slots.map((slot) => book(slot, 'greedy@example.com')))
    expect(statusesOf(replies)).toEqual({ 201: 3, 429: slots.length - 3 })
    expect(await free()).toHaveLength(slots.length - 3)
  })

  test('50 who open the same day at once make its slots once', async () => {
    const next = new Date(Date.now() + 72 * HOUR).toISOString().slice(0, 10)
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => fixture.call('POST', '/days', { body: { day: next } })),
    )
    const statuses = Object.keys(statusesOf(replies))
    expect(statuses).toContain('201')
    expect(statuses.filter((status) => status !== '201' && status !== '409')).toEqual([])
    expect(objectsOf((await fixture.call('GET', `/slots?day=${next}`)).body)).toHaveLength(16)
  })

  test.each<[string, JsonObject, number]>([
    ['no name', { name: '' }, 400],
    ['no address', { email: 'no address' }, 400],
    ['a slot that is a number', { slot: 5 }, 400],
    ['an unknown slot', { slot: '01900000-0000-7000-8000-000000000000' }, 404],
  ])('%s is refused, and nothing is booked', async (_what, wrong, status) => {
    const [slot = ''] = await free()
    const [slots, booked] = [await free(), await bookings()]
    expect((await book(slot, 'wrong@example.com', wrong)).status).toBe(status)
    expect([await free(), await bookings()]).toEqual([slots, booked])
  })

  test('no reply shows a token, and no other one confirms or cancels', async () => {
    const [slot = ''] = await free()
    const { body } = await book(slot, 'secret@example.com')
    expect(body).not.toHaveProperty('token')
    expect((await bookings()).filter((one) => 'token' in one)).toEqual([])
    expect((await fixture.call('GET', `/bookings?day=${day}`, { anonymous: true })).status).toBe(404)
    const guid = String(objectOf(objectOf(body)._meta).guid)
    for (const token of [guid, 'none', 'x'.repeat(43)]) {
      expect((await fixture.call('GET', `/bookings/${token}/confirm`)).status).toBe(404)
      expect((await fixture.call('POST', `/bookings/${token}/cancel`, { body: {} })).status).toBe(404)
    }
    const booked = (await bookings()).find(({ email }) => email === 'secret@example.com')
    expect(booked?.status).toBe('pending')
  })

  test('the link is sent after the mail server and Quoin itself were down, and is good once cancelled by 50', async () => {
    mails.answer(451)
    const [slot = ''] = await free()
    expect((await book(slot, 'patient@example.com')).status).toBe(201)
    await eventually(() => mails.arrived.some(({ to }) => to.includes('patient@example.com'))).toBe(true)
    await fixture.restart('SIGKILL')
    mails.answer(250)
    await eventually(() => mailsTo('patient@example.com').length).toBe(1)
    const token = tokenFor('patient@example.com')
    const confirmed = await Promise.all(
      Array.from({ length: 50 }, () =>
        fixture.call('GET', `/bookings/${token}/confirm`, { anonymous: true }),
      ),
    )
    expect(statusesOf(confirmed)).toEqual({ 200: 50 })
    const cancelled = await Promise.all(
      Array.from({ length: 50 }, () =>
        fixture.call('POST', `/bookings/${token}/cancel`, { body: {}, anonymous: true }),
      ),
    )
    expect(statusesOf(cancelled)).toEqual({ 200: 1, 409: 49 })
    expect(await free()).toContain(slot)
    expect(mailsTo('patient@example.com')).toHaveLength(1)
  })
})
