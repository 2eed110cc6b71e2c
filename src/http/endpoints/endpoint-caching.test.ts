/** What replies of endpoints say to caches: by who may enter, by whether the flow looks at the caller, and how they ask. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import type { JsonObject } from '../../shared/json.ts'
import { withCaching } from './request-and-reply.ts'

const VARY = 'authorization, cookie, x-token, x-authtoken'
let quoin: TestQuoin
let personal = ''

function endpoint(
  uri: string,
  scopes: readonly string[],
  seconds: number,
  value: string,
  more: JsonObject = {},
) {
  return {
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes, fields: { cache_seconds: seconds } },
    user: { type: 'user_current' },
    ...(more.code && { params: { type: 'httpconnection_get_params', in: { field: 'code' } } }),
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value, ...more } },
  }
}

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('ann', [])
  await quoin.install('same', endpoint('same', ['*public'], 60, 'same'))
  await quoin.install('asked', endpoint('asked', [], 0, 'same'))
  personal = await quoin.install('personal', endpoint('personal', ['*public'], 60, '@user.user'))
  await quoin.install('looks', endpoint('looks', ['*public'], 0, '@user.user'))
  await quoin.install('inside', endpoint('inside', ['*loggedin'], 60, 'same'))
  await quoin.install('within', endpoint('within', ['*loggedin'], 0, 'same'))
  await quoin.install('code', endpoint('code', ['*loggedin'], 60, 'same', { code: '@params.value' }))
  const own = { headers: { 'cache-control': 'private, max-age=5', vary: 'accept-language' } }
  await quoin.install('own', endpoint('own', ['*loggedin'], 60, 'same', own))
})
afterAll(() => quoin?.close())

const reported = async (path: string, as?: string) => {
  const { status, headers } = await quoin.send('GET', path, as === undefined ? {} : { as })
  return [status, headers['cache-control'], headers.vary]
}

describe('a shared cache may keep', () => {
  test.each([
    ['nothing that looks at the caller', '/personal', [200, 'private, max-age=60', VARY]],
    ['nothing of a looking flow without cache_seconds', '/looks', [200, 'private, no-cache', VARY]],
    ['a reply that is the same for all callers', '/same', [200, 'public, max-age=60', undefined]],
    ['nothing without cache_seconds, and is not told so', '/asked', [200, undefined, undefined]],
  ])('%s, for every caller', async (_what, path, expected) => {
    expect(await reported(path)).toEqual(expected)
    expect(await reported(path, 'ann')).toEqual(expected)
  })

  test.each([
    ['/inside', [200, 'private, max-age=60', VARY]],
    ['/within', [200, 'private, no-cache', VARY]],
    ['/code?code=404', [404, 'private, no-cache', VARY]],
    ['/own', [200, 'private, max-age=5', `${VARY}, accept-language`]],
  ])('nothing of %s, which a scope keeps', async (path, expected) => {
    expect(await reported(path, 'ann')).toEqual(expected)
    expect(await reported(path)).toEqual([404, 'no-store', undefined])
  })

  test('no reply to an address with a token, and the client neither', async () => {
    const token = await quoin.tokenOf('ann')
    for (const name of ['access_token', 'access%5Ftoken'])
      for (const path of ['/personal', '/inside', '/within'])
        expect(await reported(`${path}?${name}=${token}`)).toEqual([200, 'no-store', undefined])
    expect(await reported(`/same?access_token=${token}`)).toEqual([200, 'public, max-age=60', undefined])
  })

  test('304 says the same', async () => {
    const first = await quoin.send('GET', '/within', { as: 'ann' })
    const headers = { 'if-none-match': String(first.headers.etag) }
    const second = await quoin.send('GET', '/within', { as: 'ann', headers })
    expect([second.status, second.headers['cache-control'], second.headers.vary]).toEqual([
      304,
      'private, no-cache',
      VARY,
    ])
  })
})

test('a deploy warns of it, in the reply, in the check and in the system log', async () => {
  const message = expect.stringContaining('cache_seconds of GET personal')
  const warning = { pin: 'cache_seconds', message }
  const again = await quoin.manage('PUT', `/blueprints/update/set/active/${personal}`)
  expect(objectOf(again).warnings).toMatchObject([warning])
  const checked = objectOf(await quoin.manage('POST', `/blueprints/check/${personal}`, {}))
  expect(checked).toMatchObject({ problems: [], notes: [{ ...warning, level: 'warn' }] })
  const logged = (await quoin.systemLog()).filter((entry) => String(entry.message).includes('cache_seconds'))
  expect(logged.length).toBeGreaterThan(0)
  for (const entry of logged) expect(entry).toMatchObject({ level: 'warn', blueprint: personal })
  expect(objectOf(await quoin.manage('GET', `/blueprints/${personal}`)).warnings).toBeUndefined()
})

test.each([
  [{}, { vary: 'a' }, { vary: 'a' }],
  [{ vary: 'b' }, {}, { vary: 'b' }],
  [
    { vary: 'b', 'cache-control': 'x' },
    { vary: 'a', 'cache-control': 'y' },
    { vary: 'a, b', 'cache-control': 'x' },
  ],
])('%j of the flow and %j are %j', (own, caching, both) => {
  expect(withCaching(own, caching)).toEqual(both)
})
