/** What was replied is replied again only while a run would reply the same. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { CompiledEndpoint } from '../../src/flows/compile/frame.ts'
import { blockCounts } from '../../src/flows/compile/graph-wiring.ts'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { documentOf } from '../../src/storage/database.ts'
import { StoredJson } from '../../src/storage/stored-json.ts'
import { transact } from '../../src/storage/transact.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const blocks = {
  things: { type: 'storage', fields: { storage: 'things' } },
  others: { type: 'storage', fields: { storage: 'others' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'things' }, ...open },
  n: { type: 'httpconnection_get_params', in: { field: 'n' } },
  query: { type: 'query_bool_term_fields', in: { field: 'n', value: '@n.value', ignore_empty: true } },
  find: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: '@things.storage', query: '@query.query', limit: 5 },
  },
  counted: {
    type: 'object_new_fields',
    fields: { fields: ['total', 'documents'] },
    in: { total: '@find.total', documents: '@find.documents' },
  },
  list_reply: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@counted.object' } },
  plain: { type: 'on_startup_register_uri_get', in: { uri: 'plain' }, ...open },
  plain_find: {
    type: 'function_search',
    in: { flow: '@plain.flow', storage: '@things.storage', query: '@query.query' },
  },
  plain_reply: {
    type: 'httpconnection_set_json',
    in: { flow: '@plain_find.flow', value: '@plain_find.documents' },
  },
  read: { type: 'on_startup_register_uri_get', in: { uri: 'things/{guid}' }, ...open },
  guid: { type: 'httpconnection_get_params', in: { connection: '@read.connection', field: 'guid' } },
  get: {
    type: 'function_get_document',
    in: { flow: '@read.flow', storage: '@things.storage', guid: '@guid.value' },
  },
  read_reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@get.document' } },
  missing: {
    type: 'httpconnection_set_json',
    in: { flow: '@get.not_found', code: 404, value: { error: 'no such thing' } },
  },
  mine: { type: 'on_startup_register_uri_get', in: { uri: 'mine' }, scopes: ['*loggedin'] },
  user: { type: 'user_current' },
  mine_reply: { type: 'httpconnection_set_json', in: { flow: '@mine.flow', value: '@user.user' } },
} as const

let quoin: TestQuoin
let blueprint = ''
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  blueprint = await quoin.install('Things', blocks)
  // On PostgreSQL nothing is kept until writes to the storage are noted, which they are once that was wanted often.
  const again = () => quoin.send('GET', '/plain?n=none')
  for (let times = 0; times < 200 && (times < 2 || (await executedBy(again)) > 0); times++) await again()
})
afterAll(() => quoin?.close())

/** Blocks that were executed so far. */
function executed(): number {
  return blockCounts(quoin.quoin.flows.catalogue)
    .entries()
    .reduce((sum, [, count]) => sum + count, 0)
}

async function executedBy(work: () => Promise<unknown>): Promise<number> {
  const before = executed()
  await work()
  return executed() - before
}

test('no caller gets a reply to another one', async () => {
  await quoin.addUser('ann', [])
  await quoin.addUser('bob', [])
  for (let round = 0; round < 3; round++) {
    for (const name of ['ann', 'bob'])
      expect((await quoin.send('GET', '/mine', { as: name })).body).toMatchObject({ username: name })
    expect((await quoin.send('GET', '/mine')).status).toBe(404)
  }
})

test('a different address has a different reply, in any order of callers', async () => {
  await quoin.install('Echo', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'echo/{word}' }, ...open },
    params: { type: 'httpconnection_get_params', in: { connection: '@get.connection' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@params.params' } },
  })
  await quoin.addUser('eve', [])
  const addresses: [string, unknown][] = [
    ['a?status=open?x', { status: 'open?x', word: 'a' }],
    ['a?status=open&x=1?y', { status: 'open', x: '1?y', word: 'a' }],
    ['a?status=open&_=?&limit=1', { status: 'open', _: '?', limit: '1', word: 'a' }],
    ['a?status=open&access%5Ftoken=', { status: 'open', word: 'a' }],
    ['a?status=open', { status: 'open', word: 'a' }],
    ['a?status=open&status=done', { status: ['open', 'done'], word: 'a' }],
    ['a?status=open,done', { status: 'open,done', word: 'a' }],
    ['a%3Fstatus=open', { word: 'a?status=open' }],
    ['a', { word: 'a' }],
  ]
  for (const [address, read] of addresses)
    for (const as of ['eve', 'eve', 'eve', 'nobody']) {
      const asked = await quoin.send('GET', `/echo/${address}`, as === 'nobody' ? {} : { as })
      expect([address, asked.body]).toEqual([address, read])
    }
  for (const [address, read] of addresses)
    expect((await quoin.send('GET', `/echo/${address}`)).body).toEqual(read)
})

test('the third request is answered without a block, in the same words', async () => {
  const path = '/things?n=77'
  const first = await quoin.send('GET', path)
  const second = await quoin.send('GET', path)
  let third = first
  const blocksOfThird = await executedBy(async () => {
    third = await quoin.send('GET', path)
  })
  expect(blocksOfThird).toBe(0)
  const reported = ({ status, text, headers }: typeof first) => ({
    status,
    text,
    headers: { ...headers, date: '', 'x-request-id': '' },
  })
  expect(reported(second)).toEqual(reported(first))
  expect(reported(third)).toEqual(reported(first))
  const etag = String(third.headers.etag)
  expect((await quoin.send('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect((await quoin.send('HEAD', path)).text).toBe('')
})

test('a write to another document leaves a document and a page as they are kept', async () => {
  const { database } = quoin.quoin
  const guid = await transact(database, async (session) => {
    const { _meta } = documentOf(await session.create('things', setFields({ n: '31' })))
    return guidOf(_meta)
  })
  const changeOther = () => transact(database, (session) => session.create('things', setFields({ n: '32' })))
  for (const path of [`/things/${guid}`, '/plain?n=31']) {
    for (let round = 0; round < 2; round++) await quoin.send('GET', path)
    await changeOther()
    const blocksOfNext = await executedBy(async () => {
      expect((await quoin.send('GET', path)).text).toContain(guid)
    })
    // On PostgreSQL any write to the storage may have changed a page.
    expect(blocksOfNext === 0).toBe(path !== '/plain?n=31' || inject('engine') === 'sqlite')
    await transact(database, (session) => session.update('things', guid, setFields({ path })))
    expect((await quoin.send('GET', path)).text).toContain(JSON.stringify(path))
  }
})

test('a blueprint that is deployed again replies with new values', async () => {
  const guid = await quoin.install('Words', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'word' }, ...open },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'old' } },
  })
  for (let round = 0; round < 3; round++) expect((await quoin.send('GET', '/word')).body).toBe('old')
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect((await quoin.send('GET', '/word')).status).toBe(404)
  await quoin.install('New words', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'word' }, ...open },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'new' } },
  })
  for (let round = 0; round < 3; round++) expect((await quoin.send('GET', '/word')).body).toBe('new')
})

type Step =
  | { readonly kind: 'list' | 'page' | 'create'; readonly n: number }
  | {
      readonly kind: 'read' | 'change' | 'remove' | 'restore' | 'delete' | 'undo'
      readonly at: number
      readonly n: number
    }

const some = <const K extends string>(...kinds: readonly K[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), at: fc.nat(1), n: fc.nat(1) })
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: some('list', 'page', 'read') },
    { weight: 2, arbitrary: some('create', 'change') },
    { weight: 1, arbitrary: some('remove', 'restore', 'delete', 'undo') },
  ),
  { minLength: 20, maxLength: 60 },
)

test('writes and requests in any order: each reply is what a run replies', async () => {
  const { flows, runs, database } = quoin.quoin
  const endpoints = flows.live.table().blueprints.get(blueprint)?.compiled.endpoints ?? []
  const endpointOf = (uri: string) => endpoints.find(({ listening }) => listening.uri === uri)

  async function ask(endpoint: CompiledEndpoint | undefined, url: string, part: object, kept: boolean) {
    if (!endpoint) throw new Error('There is no such endpoint.')
    const some = { method: 'GET', headers: {}, ip: '', query: {}, path: {}, body: undefined, user: undefined }
    const request = { ...some, url, ...part }
    const flow = kept ? endpoint.flow : { ...endpoint.flow, cacheable: false }
    const replies: unknown[] = []
    await runs.run({
      flow,
      blueprint,
      input: endpoint.start(request),
      request,
      onReply: ({ code, value }) =>
        replies.push([code, value instanceof StoredJson ? value.text : JSON.stringify(value)]),
    })
    return replies
  }

  let answeredAgain = 0
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const guids: string[] = []
      for (const step of all) {
        const guid = ('at' in step && guids[step.at]) || 'none'
        const isList = step.kind === 'list' || step.kind === 'page'
        if (isList || step.kind === 'read') {
          const uri = step.kind === 'list' ? 'things' : isList ? 'plain' : 'things/{guid}'
          const url = isList ? `/api/v1/${uri}?n=${step.n}` : `/api/v1/things/${guid}`
          const part = isList ? { query: { n: String(step.n) } } : { path: { guid } }
          const endpoint = endpointOf(uri)
          const before = executed()
          const kept = await ask(endpoint, url, part, true)
          if (executed() === before) answeredAgain++
          expect(kept).toEqual(await ask(endpoint, url, part, false))
          expect(kept).toHaveLength(1)
          continue
        }
        const session = database.session()
        if (step.kind === 'create') {
          const { _meta } = documentOf(await session.create('things', setFields({ n: step.n })))
          guids.push(guidOf(_meta))
        } else if (step.kind === 'change' || step.kind === 'undo')
          await session.update('things', guid, setFields({ n: step.n, changed: true }))
        else if (step.kind === 'delete') await session.delete('things', guid)
        else await session.setRemoved('things', guid, step.kind === 'remove')
        await (step.kind === 'undo' ? session.transaction.rollback() : session.transaction.commit())
      }
      await transact(database, async (session) => {
        for (const guid of guids) await session.delete('things', guid)
      })
    }),
    { numRuns: 80 },
  )
  expect(answeredAgain).toBeGreaterThan(100)
})

test('what was only written and not yet committed is in no reply', async () => {
  const { database } = quoin.quoin
  const path = '/things?n=55'
  for (let round = 0; round < 3; round++)
    expect((await quoin.send('GET', path)).body).toMatchObject({ total: 0 })
  const session = database.session()
  await session.create('things', setFields({ n: '55' }))
  for (let round = 0; round < 3; round++)
    expect((await quoin.send('GET', path)).body).toMatchObject({ total: 0 })
  await session.transaction.commit()
  for (let round = 0; round < 3; round++)
    expect((await quoin.send('GET', path)).body).toMatchObject({ total: 1 })
})

function guidOf(meta: JsonObject[string] | undefined): string {
  if (!isJsonObject(meta) || typeof meta.guid !== 'string') throw new Error('A document has a guid.')
  return meta.guid
}
