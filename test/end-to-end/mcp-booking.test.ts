/**
 * In each era of the protocol a scripted agent builds bookings of slots with the tools of `/mcp` alone, a person pushes its draft, and users book.
 * Tests that fail are in `mcp.test.ts`.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { building, connectAgent, eras, use } from '../mcp-agent.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const application = 'booking'
/** What the agent writes is the example, of which it knows the texts. */
const folder = join(import.meta.dirname, '..', '..', 'examples', 'booking')
const paths = ['quoin.json', 'storages/days.json', 'storages/slots.json', 'storages/bookings.json']
const blueprint = 'blueprints/booking.json'

const booked = {
  name: 'A slot is booked once',
  given: { now: '2027-01-15T12:00:00Z', env: { BASE_URL: 'https://book.example' } },
  steps: [
    { request: 'POST /days', body: { day: '2027-01-20' }, expect: { status: 404 } },
    {
      request: 'POST /days',
      as: 'admin',
      body: { day: '2027-01-20', from: '09:00', to: '10:00' },
      expect: { status: 201, body: { slots: 2 } },
    },
    {
      request: 'GET /slots?day=2027-01-20',
      expect: { status: 200, body: [{ time: '09:00' }, { time: '09:30' }] },
    },
  ],
}

describe.each(eras)('%s', (_, mode) => {
  let agent: Client
  let quoin: TestQuoin
  beforeAll(async () => {
    quoin = await openTestQuoin()
    const requested = { name: 'builder', scopes: building, endpoints: ['/mcp'] }
    const { key } = objectOf(await quoin.manage('POST', '/users/me/keys', requested))
    agent = await connectAgent(new URL('/mcp', await quoin.quoin.server.listen()), String(key), mode)
  })
  afterAll(async () => {
    await agent?.close()
    await quoin?.close()
  })

  const tool = async (name: string, args: JsonObject) => {
    const answer = await use(agent, name, args)
    expect(answer.isError, answer.text).toBe(false)
    return answer
  }
  const edit = (changes: readonly JsonObject[]) => tool('edit', { application, changes })

  test('an agent builds and tests it, a person pushes it, and a user books', async () => {
    const whole = await readFile(join(folder, blueprint), 'utf8')
    expect((await tool('search', { in: 'blocks', text: 'create or update' })).text).toContain(
      'function_upsert_document',
    )
    const { data: block } = await tool('read', { kind: 'block', name: 'function_upsert_document' })
    expect(Object.keys(objectOf(block.in))).toContain('set_new')

    const mistaken = whole
      .replace('"function_upsert_document"', '"function_upsert_documents"')
      .replace('@each_time.each"', '@each_time.every"')
    const files = await Promise.all(
      paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') })),
    )
    const first = await edit([...files, { path: blueprint, text: mistaken }])
    const draft = String(first.data.guid)
    expect(JSON.stringify(first.data.problems)).toMatch(
      /function_upsert_documents.*Did you mean function_upsert_document\?/,
    )
    expect(
      (
        await edit([
          { path: blueprint, old: '"function_upsert_documents"', new: '"function_upsert_document"' },
        ])
      ).text,
    ).toContain('every')
    expect(
      (await edit([{ path: blueprint, old: '@each_time.every"', new: '@each_time.each"' }])).data,
    ).toMatchObject({ guid: draft, problems: [] })

    await edit([{ path: 'tests/booked.test.json', text: JSON.stringify(booked) }])
    expect((await tool('test', { draft })).data.passed).toBe(true)

    const { data: plan } = await tool('plan', { draft })
    expect((await use(agent, 'deploy', { draft, state: String(plan.state) })).isError).toBe(true)
    expect((await quoin.send('GET', '/slots?day=2027-01-20')).status).toBe(404)
    await pushed(quoin, draft)
    expect((await tool('search', { in: 'drafts' })).text).not.toContain(draft)
    expect((await tool('explain', { method: 'GET', path: '/api/v1/slots' })).text).toContain(
      'It is active and public.',
    )
    await booksOnce(quoin)
  })
})

/** As the page of drafts in the studio does. */
async function pushed(quoin: TestQuoin, draft: string): Promise<void> {
  await quoin.manage('POST', '/_system/environment', { name: 'BASE_URL', value: 'https://book.example' })
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${draft}/plan`))
  await quoin.manage('POST', `/_system/drafts/${draft}/push`, { state })
}

async function booksOnce(quoin: TestQuoin): Promise<void> {
  const day = new Date(quoin.now() + 5 * 86_400_000).toISOString().slice(0, 10)
  const opened = await quoin.send('POST', '/days', { as: 'admin', body: { day } })
  expect(opened.status, opened.text).toBe(201)
  const [slot] = objectsOf((await quoin.send('GET', `/slots?day=${day}`)).body)
  const booking = { slot: String(slot?.slot), name: 'Ann', email: 'ann@example.com' }
  const replies = await Promise.all([1, 2, 3].map(() => quoin.send('POST', '/bookings', { body: booking })))
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  const [stored] = await quoin.documents('bookings')
  const confirmed = await quoin.send('GET', `/bookings/${String(stored?.token)}/confirm`)
  expect([confirmed.status, confirmed.text]).toEqual([200, expect.stringContaining('confirmed')])
}
