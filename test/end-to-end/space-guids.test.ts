/**
 * Guids of one space in every place of another one where a guid can stand: paths, queries and bodies of all management endpoints, as the
 * administrator, who may do everything there. Each reply is the one to a guid that was never made, and the other space stays as it is.
 */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { search } from '../../src/shared/query.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { type Contents, fillSpace } from './space-contents.ts'
import { openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'
import { type Endpoint, endpointsOf, type Row, rowsOf } from './space-requests.ts'

const MARK = 'only-in-blue'
const onPostgres = inject('engine') === 'postgres'
/** Guids of other kinds, in turns, in each place that takes one. */
const OTHERS = onPostgres ? 0 : 3

let place: AssetPlace
let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
let own: Contents
let guids: Contents
let all: Endpoint[]
let rows: Row[]
beforeAll(async () => {
  place = await openAssetPlace()
  cluster = await openTestCluster({
    ...place.settings,
    ...{
      QUOIN_PUBLIC_URL: 'https://quoin.example.test',
      QUOIN_MAIL_URL: 'smtp://127.0.0.1:1',
      QUOIN_MAIL_FROM: 'a@example.test',
    },
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    QUOIN_RATE_LIMIT: '0',
  })
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  own = await fillSpace(cluster, red, 'of-red')
  guids = await fillSpace(cluster, blue, MARK)
  all = endpointsOf((await red.send('GET', '/openapi.json', { token: await red.signIn() })).body)
  // Where nothing takes a guid, any text comes to the same statements on both engines.
  rows = rowsOf(all).filter(({ kind }) => !onPostgres || kind !== undefined)
})
afterAll(async () => {
  await cluster?.close()
  await place?.close()
})

let made = 0
/** Another one each time, whose first digits are those of the guid. */
function neverMade(guid: string): string {
  made += 1
  return guid.slice(0, -12) + made.toString(16).padStart(12, '0')
}

/** Replies in a space with these contents. */
function asking(space: TestSpace, contents: Contents, token: string) {
  return async ({ method, sent }: Row, guid: string): Promise<string> => {
    const { path, body, type = 'application/json' } = sent(contents, guid)
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) }
    const { status, text } = await cluster.ask(space.host, method, path, headers, body)
    // Guids come back in messages, and what was made meanwhile has one and times of its own.
    const plain = text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<guid>')
      .replace(
        /"(?:created|updated|cms|ums|update_hash|expiry|at|request|seen|load|hash|short_id|hint|key)":[^,}]+/g,
        '',
      )
    return `${status} ${plain}`
  }
}

/** All that blue has stored, but for what it notes of its own work. */
async function stateOfBlue(): Promise<string> {
  const { database } = await blue.enter()
  const names = database.names().filter((name) => !/log|figures|limits|access|sign|token|audit/.test(name))
  const sort = [{ field: '_meta.guid', order: 'asc', missing: 'last' } as const]
  const found = await Promise.all(
    names.toSorted().map(async (name) => {
      const page = await database.session().find(name, search({ sort, limit: 1_000, includeRemoved: true }))
      return `${name} ${JSON.stringify(documentsOf(page))}`
    }),
  )
  return found.join('\n')
}

test('each reply to a guid of another space is the one to a guid that was never made', async () => {
  // What blue has read is in its caches.
  const askBlue = asking(blue, guids, await blue.signIn())
  for (const row of rows)
    if (row.method === 'GET' && row.kind !== undefined) await askBlue(row, guids.get(row.kind) ?? '')
  const before = await stateOfBlue()
  expect(before).toContain(MARK)
  const ask = asking(red, own, await red.signIn())
  const kinds = [...guids.keys()]
  const differences: string[] = []
  let turn = 0
  for (const row of rows.toSorted((a, b) => Number(a.changes ?? false) - Number(b.changes ?? false))) {
    const others = Array.from(
      { length: row.kind === undefined ? 1 : OTHERS },
      () => kinds[turn++ % kinds.length] ?? '',
    )
    for (const kind of new Set([...(row.kind === undefined ? [] : [row.kind]), ...others])) {
      const guid = guids.get(kind) ?? ''
      const [unknown, reply] = [await ask(row, neverMade(guid)), await ask(row, guid)]
      if (reply.includes(MARK)) differences.push(`${row.name} shows ${kind}`)
      // What came between the two may have changed the space itself.
      const isSame = reply === unknown || (await ask(row, neverMade(guid))) === reply
      if (!isSame)
        differences.push(`${row.name} with a ${kind}: ${reply.slice(0, 300)} for ${unknown.slice(0, 300)}`)
    }
  }
  expect(differences).toEqual([])
  expect(await stateOfBlue()).toBe(before)
})

test('control: in its own space each of them is found there', async () => {
  const ask = asking(blue, guids, await blue.signIn())
  const order = ['GET', 'POST', 'PUT', 'DELETE']
  const telling = rows
    .filter(({ kind }) => kind !== undefined)
    .toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method) || b.name.length - a.name.length)
  const unknowns = new Map<Row, string>()
  for (const row of telling) unknowns.set(row, await ask(row, neverMade(guids.get(row.kind ?? '') ?? '')))
  const replies = new Map<string, string>()
  const unfound: string[] = []
  for (const row of telling) {
    const guid = guids.get(row.kind ?? '') ?? ''
    // One that deletes what it names is sent once.
    const request = row.method + JSON.stringify(row.sent(guids, guid))
    const reply = replies.get(request) ?? (await ask(row, guid))
    replies.set(request, reply)
    if (reply === unknowns.get(row)) unfound.push(row.name)
  }
  // The first two take a signature and a token as well: `space-doors.test.ts`. No run is paused.
  expect(unfound).toEqual([
    'GET /_system/assets/{guid}/linked, guid in the path',
    'GET /runs/paused, blueprint in the query',
    'POST /_hooks/{guid}, guid in the path',
  ])
})
