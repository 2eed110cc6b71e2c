/** Rules that lead to other documents, such as `doc.supplier.owner`: what each door shows each user, also when the other document changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { readEvents } from '../event-reader.ts'
import { documents, type GoodsFixture, openGoodsFixture, type Role } from './goods-fixture.ts'
import { objectOf, objectsOf } from './harness.ts'

let fixture: GoodsFixture
beforeAll(async () => {
  fixture = await openGoodsFixture()
})
afterAll(() => fixture?.quoin.close())
beforeEach(() => fixture.reset())

const send: GoodsFixture['send'] = (...sent) => fixture.send(...sent)
const guid = (name: string) => fixture.guid(name)
const numbers = (body: JsonValue | undefined) =>
  objectsOf(body)
    .map(({ n }) => Number(n))
    .sort()
const everyone = ['ann', 'bob', 'lead', ''] as const

/** What each door shows a user: the numbers of the goods. */
const doors: Readonly<Record<string, (as: Role) => Promise<readonly number[] | number>>> = {
  'documents API': async (as) => {
    const found = await send('POST', `${documents}/search`, as, {})
    const count = await send('POST', `${documents}/search`, as, { count: true })
    const seen = numbers(found.body)
    expect([found.headers['x-total-count'], objectOf(count.body).count]).toEqual([
      `${seen.length}`,
      seen.length,
    ])
    return seen
  },
  'documents one by one': async (as) => {
    const replies = [1, 2, 4, 8].map(async (n) => [
      n,
      (await send('GET', `${documents}/${guid(`good ${n}`)}`, as)).status,
    ])
    return (await Promise.all(replies)).flatMap(([n = 0, status]) => (status === 200 ? [n] : []))
  },
  histories: async (as) => {
    const seen: number[] = []
    for (const n of [1, 2, 4, 8])
      if ((await send('GET', `${documents}/${guid(`good ${n}`)}/history`, as)).status === 200) seen.push(n)
    return seen
  },
  export: async (as) => {
    const { text } = await send('GET', `${documents}/export?format=csv&columns=["n"]`, as)
    return text.trim().split(/\s+/).slice(1).map(Number).sort()
  },
  'resource, list': async (as) => numbers((await send('GET', '/goods', as)).body),
  'resource, count': async (as) => Number(objectOf((await send('GET', '/goods?count=true', as)).body).count),
  'resource, read': async (as) => {
    const seen: number[] = []
    for (const n of [1, 2, 4, 8])
      if ((await send('GET', `/goods/${guid(`good ${n}`)}`, as)).status === 200) seen.push(n)
    return seen
  },
  'search of a flow': async (as) => (await send('GET', '/found', as)).body as number[],
  'aggregate of a flow': async (as) => (await send('GET', '/sum', as)).body as number,
  'each of a flow': async (as) => (await send('GET', '/walk', as)).body as number,
  'search through a reference': async (as) => (await send('GET', '/notes', as)).body as number[],
  'table of a page': async (as) => shown((await visit(as)).html),
  'CSV of a page': async (as) => shown((await visit(as, '?_export=t')).html),
}
/** Those that an anonymous caller can open. */
const public_ = Object.keys(doors).filter((name) => !/document|histor|^export/.test(name))
const summed = new Set(['aggregate of a flow'])
const counted = new Set(['resource, count', 'each of a flow'])

const visit = async (as: Role, query = '') => (await fixture.visitor(as)).get(`/goods${query}`)
const shown = (html: string) =>
  [...new Set([...html.matchAll(/good (\d)/g)].map(([, n]) => Number(n)))].sort()

function expected(door: string, seen: readonly number[]) {
  if (summed.has(door)) return seen.reduce((sum, n) => sum + n, 0)
  return counted.has(door) ? seen.length : seen
}

describe('each door shows what the rule finds', () => {
  test.each(Object.keys(doors))('%s', async (door) => {
    const look = doors[door]
    if (!look) throw new Error(door)
    const check = async (what: string, seen: Readonly<Record<string, readonly number[]>>) => {
      for (const as of everyone) {
        if (as === '' && !public_.includes(door)) continue
        expect([what, as, await look(as)]).toEqual([what, as, expected(door, seen[as] ?? [])])
      }
    }
    // Twice, so that a kept list of one user is not given to the other.
    for (const _ of [1, 2]) await check('at first', { ann: [1], bob: [2], lead: [1] })
    const admin = await look('admin')
    expect(admin).toEqual(expected(door, [1, 2, 4, 8]))
    const change = (storage: string, name: string, fields: JsonObject) =>
      send('PUT', `/_system/storages/${storage}/documents/${guid(name)}`, 'admin', fields)
    await change('suppliers', 'ann’s', { owner: fixture.user.bob })
    await check('another owner', { bob: [1, 2], lead: [1] })
    await change('suppliers', 'none’s', { region: guid('north') })
    await check('another region', { bob: [1, 2], lead: [1, 4] })
    await change('regions', 'north', { lead: fixture.user.ann })
    await check('another lead, two references away', { ann: [1, 4], bob: [1, 2] })
    await send('DELETE', `/_system/storages/suppliers/documents/${guid('bob’s')}`, 'admin')
    await check('no supplier', { ann: [1, 4], bob: [1] })
  })
})

describe('live', () => {
  const give = (owner: string) =>
    send('PUT', `/_system/storages/suppliers/documents/${guid('ann’s')}`, 'admin', { owner })

  test('a followed reply is sent again when the other document changes', async () => {
    const reader = await readEvents(`${fixture.origin}/api/v1/mine`, {
      authorization: `Bearer ${await fixture.quoin.tokenOf('ann')}`,
    })
    expect(await reader.data()).toEqual([1])
    await give(fixture.user.bob)
    expect(await reader.data()).toEqual([])
    await give(fixture.user.ann)
    expect(await reader.data()).toEqual([1])
    reader.close()
  })

  test('an open page is told to load its table again', async () => {
    const { html } = await visit('ann')
    const address = /data-events="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const reader = await readEvents(new URL(address, fixture.origin).href, {
      cookie: `access_token=${await fixture.quoin.tokenOf('ann')}`,
    })
    await give(fixture.user.bob)
    expect(await reader.next()).toMatchObject({ event: 'changed', data: '{"table":"t"}' })
    expect(shown((await visit('ann')).html)).toEqual([])
    reader.close()
  })
})
