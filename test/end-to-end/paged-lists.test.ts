/** A list of another server page by page in a deployed flow: signed in, and no transaction open while a page is waited for. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const secret = 'list-key-Vk42-onyx'
let quoin: TestQuoin
let shop: LocalServer
let sent: (string | undefined)[] = []
/** What the cluster held while the second page was asked for, and whether another client could write. */
let meanwhile: { readonly stored: number; readonly status: number } | undefined

async function secondPage(): Promise<void> {
  const { status } = await quoin.send('POST', '/other-write', { body: {} })
  meanwhile = { stored: (await quoin.documents('paged')).length, status }
}

beforeAll(async () => {
  shop = await startLocalServer(async ({ url, headers }, response) => {
    sent.push(headers.authorization)
    const { pathname, searchParams } = new URL(url ?? '/', shop.url)
    const isLast = searchParams.has('after')
    if (isLast) await secondPage()
    const next = pathname.endsWith('strays') ? 'https://evil.example/' : `${shop.url}/v1/goods?after=2`
    response.writeHead(pathname.endsWith('gone') ? 410 : 200, {
      'content-type': 'application/json',
      ...(isLast ? {} : { link: `<${next}>; rel="next"` }),
    })
    response.end(JSON.stringify(isLast ? ['c'] : ['a', 'b']))
  })
  quoin = await openTestQuoin({
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  await quoin.manage('POST', '/_system/secrets', { name: 'SHOP_KEY', value: secret })
  const auth = { kind: 'bearer', secret: 'SHOP_KEY' }
  await quoin.manage('POST', '/_system/connections', { name: 'SHOP', base_url: `${shop.url}/v1`, auth })
  await quoin.install('Pages', {
    on: { type: 'on_startup_register_uri_post', in: { uri: 'pages' }, scopes: ['*public'] },
    pages: { type: 'each_page', in: { flow: '@on.flow', connection: 'SHOP', url: '=body.what' } },
    store: {
      type: 'function_create_document_from_mutations',
      in: {
        ...{ flow: '@pages.each', storage: 'paged' },
        set: '={ page: pages.page, goods: pages.items }',
      },
    },
    done: {
      type: 'reply',
      in: { flow: '@pages.flow', value: '={ pages: pages.pages, count: pages.count }' },
    },
    refused: { type: 'reply', in: { flow: '@pages.failed', code: 502, value: '={ code: pages.code }' } },
    wrong: { type: 'reply', in: { flow: '@pages.error', code: 503, value: '={ why: pages.error.message }' } },
    other: { type: 'on_startup_register_uri_post', in: { uri: 'other-write' }, scopes: ['*public'] },
    write: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@other.flow', storage: 'others', set: '={ a: 1 }' },
    },
    written: { type: 'reply', in: { flow: '@write.flow', value: true } },
  })
})
afterAll(async () => {
  await quoin.close()
  await shop.close()
})

const asked = async (what: string) => {
  sent = []
  const { status, body } = await quoin.send('POST', '/pages', { body: { what } })
  return { status, body }
}

test('a refusal takes the way failed, and stores nothing', async () => {
  expect(await asked('gone')).toEqual({ status: 502, body: { code: 410 } })
  expect(await quoin.documents('paged')).toEqual([])
})

test('a next page of another server ends the loop before a pass, and gets no secret', async () => {
  const why = expect.stringContaining('out of the base address')
  expect(await asked('strays')).toEqual({ status: 503, body: { why } })
  expect([sent, await quoin.documents('paged')]).toEqual([[`Bearer ${secret}`], []])
})

test('each page is stored before the next one is requested, while other clients write', async () => {
  expect(await asked('goods')).toEqual({ status: 200, body: { pages: 2, count: 3 } })
  expect([meanwhile, sent]).toEqual([{ stored: 1, status: 200 }, Array(2).fill(`Bearer ${secret}`)])
  const stored = (await quoin.documents('paged')).map(({ page, goods }) => [page, goods])
  expect(stored.toSorted()).toEqual([
    [1, ['a', 'b']],
    [2, ['c']],
  ])
})
