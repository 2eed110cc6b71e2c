/** Blocks with `as: user` behind a wait: they act as the user of the request that the run began with. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { textIn } from '../../src/storage/document-fields.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
const asUser = { fields: { as: 'user' } }

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  const storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'deals' }))
  const see = 'doc.owner == user.guid || contains(user.scopes, "deals_all")'
  await fixture.manage('PUT', `/_system/storages/${storage}`, { rules: { see } })
  await fixture.install('Deals', {
    get: { type: 'on_startup_register_uri_post', in: { uri: 'ask' }, scopes: ['*public'] },
    wait: { type: 'wait', in: { flow: '@get.flow', for: '1h' } },
    reply: { type: 'reply', in: { flow: '@wait.now', value: '={ wait: wait.wait }' } },
    find: { type: 'function_search', in: { flow: '@wait.flow', storage: 'deals' }, ...asUser },
    note: {
      type: 'function_create_document_from_mutations',
      in: {
        flow: '@find.flow',
        storage: 'seen',
        set: '={ id: body.id, seen: map(find.documents, one => one.n) }',
      },
    },
    again: { type: 'wait', in: { flow: '@note.flow', for: '1h' } },
    find_again: { type: 'function_search', in: { flow: '@again.flow', storage: 'deals' }, ...asUser },
    note_again: {
      type: 'function_create_document_from_mutations',
      in: {
        flow: '@find_again.flow',
        storage: 'seen',
        set: '={ id: body.id + " again", seen: map(find_again.documents, one => one.n) }',
      },
    },
  })
})
afterAll(() => fixture?.close())

let count = 0
let [id, ann, lead] = ['', '', '']
/** Users of this test alone, each with a document. */
beforeEach(async () => {
  count += 1
  id = `run ${count}`
  const session = fixture.quoin.database.session()
  for (const one of await fixture.documents('deals')) await session.delete('deals', guidOf(one))
  await session.transaction.commit()
  ann = await fixture.addUser(`ann${count}`, [])
  lead = await fixture.addUser(`lead${count}`, ['deals_all'])
  for (const [owner, n] of [
    [ann, 1],
    [lead, 2],
  ] as const) {
    const set = Object.entries({ owner, n }).map(([field, value]) => ({ op: 'set', field, value }) as const)
    await session.create('deals', set)
  }
  await session.transaction.commit()
})

const seen = async (name = id): Promise<readonly JsonValue[] | undefined> => {
  const [note] = (await fixture.documents('seen')).filter((one) => one.id === name)
  return note && Array.isArray(note.seen) ? [...note.seen].sort() : undefined
}

async function begin(as: string | undefined, headers?: Record<string, string>): Promise<string> {
  const answer = await fixture.send('POST', '/ask', {
    ...(as && { as }),
    body: { id },
    ...(headers && { headers }),
  })
  return textIn(objectOf(answer.body).wait)
}
const resume = (wait: string) => fixture.manage('POST', `/_system/waits/${wait}/continue`, {})
const sees = (documents: readonly number[], name?: string) =>
  expect.poll(() => seen(name), { timeout: 20_000 }).toEqual(documents)

test.each<[string, readonly number[]]>([
  ['an anonymous caller sees nothing', []],
  ['ann sees her own', [1]],
  ['lead sees all', [1, 2]],
])('%s', async (what, documents) => {
  const [who = ''] = what.split(' ')
  const wait = await begin(who === 'an' ? undefined : `${who}${count}`)
  await resume(wait)
  await sees(documents)
})

test('with the scopes that the user has lost since', async () => {
  const wait = await begin(`lead${count}`)
  await fixture.manage('PUT', `/users/${lead}`, { custom_scopes: [] })
  await resume(wait)
  await sees([2])
})

test('without the scopes that the user got since, or that an API key does not have', async () => {
  const wait = await begin(`ann${count}`)
  await fixture.manage('PUT', `/users/${ann}`, { custom_scopes: ['deals_all'] })
  await resume(wait)
  await sees([1])
  const made = await fixture.send('POST', '/users/me/keys', {
    as: `lead${count}`,
    body: { name: 'Few', scopes: [], expiry: Math.floor(fixture.now() / 1000) + 3_600 },
  })
  id = `${id} by key`
  const byKey = await begin(undefined, { 'x-api-key': textIn(objectOf(made.body).key) })
  await resume(byKey)
  await sees([2])
})

test('also behind a second wait', async () => {
  const wait = await begin(`lead${count}`)
  await resume(wait)
  await sees([1, 2])
  const next = async () =>
    (await fixture.documents(systemStorages.waits)).filter(
      (one: JsonObject) => JSON.stringify(one.user ?? null).includes(lead) && one.state === 'waiting',
    )
  await expect.poll(async () => (await next()).length, { timeout: 10_000 }).toBe(1)
  await fixture.manage('PUT', `/users/${lead}`, { custom_scopes: [] })
  await resume(guidOf((await next())[0]))
  await sees([2], `${id} again`)
})

test.each(['inactive', 'gone'])('not as a user who is %s: the job fails and says so', async (what) => {
  const wait = await begin(`ann${count}`)
  if (what === 'gone') await fixture.manage('DELETE', `/users/${ann}`)
  else await fixture.manage('PUT', `/users/${ann}`, { is_active: false })
  await resume(wait)
  const job = async () => {
    const { job } = objectOf(await fixture.manage('GET', `/_system/waits/${wait}`))
    return objectOf(await fixture.manage('GET', `/queue/${textIn(job)}`)).error
  }
  await expect
    .poll(job, { timeout: 10_000 })
    .toContain(`The user ann${count}, who began the run, is gone or not active`)
  expect(await seen()).toBeUndefined()
})
