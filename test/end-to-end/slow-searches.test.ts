/**
 * Free texts that look at much, from clients that may send what they like: none of them keeps the event loop for more than
 * 50 ms, and what would take too long wherever it runs is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setFields } from '../../src/shared/mutation.ts'
import { createAll } from '../../src/storage/create-all.ts'
import { openVisitor } from '../page-visitor.ts'
import { guardTurns, LONGEST_TURN_MS, type TurnGuard } from '../turn-guard.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

/** Enough that eight misspelled words took 0.3 s in one turn. */
const DOCUMENTS = 3_000
const WORDS = 140
const greek = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta']

let fixture: TestQuoin
let guard: TurnGuard
let origin: string

/** Always the same words, 3,200 of them, each in one document of 23. */
const wordAt = (at: number) => `${greek[at % 8]}${(at * 7_919) % 400}`
const words = (n: number, make: (n: number) => string, between = '|') =>
  Array.from({ length: n }, (_, at) => make(at)).join(between)

async function fill(storage: string): Promise<void> {
  const session = fixture.quoin.database.session()
  const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({
    mutations: setFields({
      n: at,
      title: `${wordAt(at)} all`,
      body: words(WORDS, (place) => wordAt(at * WORDS + place), ' '),
    }),
  }))
  await createAll(session, storage, documents)
  await session.transaction.commit()
}

beforeAll(async () => {
  fixture = await openTestQuoin()
  guard = guardTurns()
  origin = await fixture.quoin.server.listen()
  await fixture.install('Search', {
    notes: { type: 'storage', fields: { storage: 'notes' } },
    plain: { type: 'storage', fields: { storage: 'plain' } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'notes' }, scopes: ['*public'] },
    q: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'q' } },
    words: { type: 'query_bool_simple_query_string_field', in: { field: 'body', value: '@q.value' } },
    find: {
      type: 'function_search',
      in: { flow: '@get.flow', storage: '@notes.storage', query: '@words.query', limit: 3 },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@find.flow', connection: '@get.connection', value: '@find.total' },
    },
    page: { type: 'state_page', in: { url: 'notes', title: 'Notes' } },
    table: {
      type: 'state_advanced_datatable',
      in: {
        storage: '@notes.storage',
        table_id: 't',
        searchable: true,
        columns: [{ field: 'title' }, { field: 'body' }],
      },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  })
  await fill('notes')
  await fill('plain')
  // The first replies of a process compile what makes them, which is no part of a search.
  for (const q of ['warm', words(26, (n) => `${wordAt(n)}~2`)]) await ask(q)
}, 120_000)
afterAll(async () => {
  guard?.stop()
  await fixture?.close()
})

const ask = async (q: string) => {
  await guard.longest()
  const reply = await fixture.send('GET', `/notes?q=${encodeURIComponent(q)}`)
  return { status: reply.status, body: reply.body, longest: await guard.longest() }
}

describe('a public endpoint', () => {
  test.each([
    ['25 misspelled words', words(25, (n) => `${wordAt(n)}~2`), /^q has 25 words with spelling mistakes/],
    [
      '9 phrases with gaps',
      words(9, (n) => `"${wordAt(n)} ${wordAt(n + 1)}"~9`),
      /^q has 9 phrases with gaps/,
    ],
  ])('refuses %s and names the parameter', async (_name, q, message) => {
    const { status, body, longest } = await ask(q)
    expect([status, body]).toEqual([
      400,
      { error: expect.stringMatching(message), fields: { q: expect.any(String) } },
    ])
    expect(longest).toBeLessThan(LONGEST_TURN_MS)
  })

  test.each([
    ['a word that all have', 'title all', 0],
    ['8 misspelled words', words(8, (n) => `${wordAt(n)}~2`), DOCUMENTS],
    ['8 misspelled words that must all be there', words(8, (n) => `${wordAt(n)}~2`, ' '), DOCUMENTS],
    ['8 phrases with gaps', words(8, (n) => `"${greek[n]}1 ${greek[n]}2 ${greek[n]}3"~100`), 0],
    ['30 beginnings of words', words(30, (n) => `${greek[n % 8]?.slice(0, 2)}*`), DOCUMENTS],
    ['60 words', words(60, wordAt), undefined],
  ])('%s: found without keeping the event loop', async (_name, q, total) => {
    const { status, body, longest } = await ask(q)
    expect([status, typeof body]).toEqual([200, 'number'])
    if (total !== undefined) expect(body).toBe(total)
    expect(longest).toBeLessThan(LONGEST_TURN_MS)
  })
})

test('a page with a search box', async () => {
  const visit = (from: number) => {
    const q = words(8, (n) => `${wordAt(from + n).slice(0, 5)}~2`, ' ')
    return openVisitor(origin).get(`/notes?t.q=${encodeURIComponent(q)}`)
  }
  // The first page of a process compiles what draws pages, which is no part of the search.
  expect((await visit(8)).status).toBe(200)
  await guard.longest()
  expect((await visit(0)).status).toBe(200)
  expect(await guard.longest()).toBeLessThan(LONGEST_TURN_MS)
})

describe('a storage without an index of free text', () => {
  const find = async (query: string) => {
    const found = objectsOf(
      await fixture.manage('POST', '/_system/storages/search', { filters: { name: 'plain' } }),
    )
    await guard.longest()
    const path = `/_system/storages/${guidOf(found[0])}/documents/search`
    const reply = await fixture.send('POST', path, { as: 'admin', body: { query, limit: 3 } })
    return { ...reply, longest: await guard.longest() }
  }

  test.each([
    ['a word', 'alpha1', 200],
    [
      '8 phrases of 40 words with gaps',
      words(8, (n) => `"${words(40, (at) => `${wordAt(n + at)}`, ' ')}"~9`),
      422,
    ],
  ])('%s', async (_name, query, status) => {
    const reply = await find(query)
    expect(reply.status).toBe(status)
    if (status === 422) {
      expect(reply.body).toMatchObject({ error: 'SEARCH_TOO_COSTLY', code: 422 })
      expect(reply.text).toContain('would compare too many words')
    }
    expect(reply.longest).toBeLessThan(LONGEST_TURN_MS)
  })
})
