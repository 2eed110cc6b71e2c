/** What is read of a body, and where: of every route that there is, by raw requests that announce a megabyte. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJsonObject, type JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let port: number
let token: string
/** `post /api/v1/…`, and whether it has a body. */
const routes = new Map<string, boolean>()

const guid = '00000000-0000-4000-8000-000000000000'
const MEGABYTE = 1_000_000
/** They send documents, blocks, files or a request to be signed: as much as the settings allow, or more. */
const LARGE = [
  'post /api/v1/blueprintactions',
  'post /api/v1/blueprints/{guid}/edits',
  'post /api/v1/blueprints/{guid}/run',
  'post /api/v1/blueprinttemplates',
  'post /api/v1/_system/applications/plan',
  'post /api/v1/_system/applications/push',
  'post /api/v1/_system/drafts',
  'post /api/v1/_system/drafts/{guid}/try',
  'post /api/v1/_system/previews',
  'post /api/v1/_system/assets/stream',
  'post /api/v1/_system/secrets/sign',
  'post /api/v1/_system/storages/samples',
  'post /api/v1/_system/tools/{name}',
  'post /api/v1/_system/storages/{guid}/documents',
  'post /api/v1/_system/storages/{guid}/documents/import',
  'post /api/v1/_system/storages/{guid}/documents/import/preview',
  'post /api/v1/_system/storages/{guid}/documents/update-many',
  'post /api/v1/_system/storages/{guid}/documents/put-back',
  'put /api/v1/blueprintactions/{guid}',
  'put /api/v1/_system/connections/{guid}/document',
  'put /api/v1/blueprinttemplates/{guid}',
  'put /api/v1/_system/storages/{guid}/documents/{document}',
]

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  port = Number(new URL(await quoin.quoin.server.listen()).port)
  token = await quoin.tokenOf('admin')
  await quoin.install('open', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'open' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@take.flow', value: '@take.body' } },
    page: { type: 'state_page', in: { url: 'open' } },
    h1: { type: 'state_h1', in: { text: 'Open' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
  })
  const document = objectOf((await quoin.send('GET', '/openapi.json', { as: 'admin' })).body)
  for (const [path, operations] of Object.entries(objectOf(document.paths)))
    for (const [method, operation] of Object.entries(objectOf(operations)))
      if (method !== 'get') routes.set(`${method} ${path}`, hasBody(operation))
})
afterAll(() => quoin.close())

function hasBody(operation: JsonValue): boolean {
  return isJsonObject(operation) && operation.requestBody !== undefined
}

/** The status that a request gets that announces a megabyte and sends nothing of it. */
function statusUnread(method: string, path: string, headers: readonly string[] = []): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  const lines = ['host: quoin', `content-length: ${MEGABYTE}`, ...headers]
  socket.write([`${method.toUpperCase()} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
  return new Promise((resolve, reject) => {
    socket.setTimeout(4_000, () => socket.destroy(new Error(`${method} ${path} waits for its body.`)))
    socket.once('error', reject)
    socket.once('data', (reply) => {
      socket.destroy()
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(reply.toString('latin1'))?.[1]))
    })
  })
}

const form = 'content-type: application/x-www-form-urlencoded'
const json = 'content-type: application/json'
const addressOf = (path: string) =>
  path
    .replace('{number}', '1')
    .replace('{name}', 'nothing')
    .replaceAll(/\{\w+\}/g, guid)

describe('without an account', () => {
  test.each([
    ['POST', '/nothing-is-here', 404],
    ['PUT', '/nothing-is-here', 404],
    ['OPTIONS', '/nothing-is-here', 404],
    ['DELETE', '/docs', 404],
    ['POST', '/Login', 404],
    ['POST', '/studio/nothing', 404],
    ['POST', '/health/live', 404],
    ['PUT', '/api/v1/open', 404],
    ['POST', '/api/v1/nothing', 404],
    ['OPTIONS', '/api/v1/nothing', 404],
    ['POST', '/api/v1/users/nothing/here', 404],
    ['POST', `/api/v1/_hooks/${guid}?token=a`, 404],
    ['POST', '/login', 413],
    ['POST', '/login/new', 413],
    ['POST', '/password/forgot', 413],
    ['POST', '/password/set', 413],
    ['POST', `/_approvals/${guid}?token=a`, 413],
    ['POST', '/api/v1/auth/signin', 413],
    ['POST', '/api/v1/auth/second-factor', 413],
    ['POST', '/api/v1/auth/passkey', 413],
    ['POST', '/api/v1/auth/passkey/options', 413],
    ['POST', '/api/v1/auth/passkey/setup', 413],
    ['POST', '/api/v1/auth/passkey/setup/options', 413],
    ['POST', '/login/code', 413],
  ])('%s %s is answered before its body is read', async (method, path, status) => {
    for (const type of [form, json, 'content-type: multipart/form-data; boundary=x'])
      if (status === 404 || type === form || (type === json && path.startsWith('/api')))
        expect([type, await statusUnread(method, path, [type])]).toEqual([type, status])
  })

  test('a form with files to a page of Quoin has 50 fields and 16 KB of text at most', async () => {
    const part = (name: number, text: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
    const many = Array.from({ length: 51 }, (_, at) => part(at, 'a')).join('')
    const long = Array.from({ length: 5 }, (_, at) => part(at, 'a'.repeat(4_000))).join('')
    for (const payload of [many, long]) {
      const reply = await quoin.quoin.server.app.inject({
        method: 'POST',
        url: '/login',
        headers: { 'content-type': 'multipart/form-data; boundary=x', accept: 'application/json' },
        payload: `${payload}--x--\r\n`,
      })
      expect([reply.statusCode, reply.json().error]).toEqual([400, 'INVALID_BODY'])
    }
  })

  test('every route of management refuses before its body is read', async () => {
    expect(routes.size).toBeGreaterThan(100)
    const open =
      /auth\/(?:signin|login|second-factor|exchange|passkey|passkey\/options|passkey\/setup|passkey\/setup\/options)$|_hooks/
    for (const route of routes.keys()) {
      const [method = '', path = ''] = route.split(' ')
      if (open.test(path) || !path.startsWith('/api/v1/')) continue
      if (path === '/api/v1/open') continue
      expect([route, await statusUnread(method, addressOf(path), [json])]).toEqual([route, 401])
    }
  })
})

describe('of an administrator', () => {
  test('only routes that take documents, blocks, files or requests read a megabyte', async () => {
    const read: string[] = []
    for (const [route, body] of routes) {
      const [method = '', path = ''] = route.split(' ')
      if (!body || path === '/api/v1/open' || path.includes('_hooks')) continue
      if (LARGE.includes(route)) read.push(route)
      else
        expect([
          route,
          await statusUnread(method, addressOf(path), [json, `authorization: Bearer ${token}`]),
        ]).toEqual([route, 413])
    }
    expect(read.sort()).toEqual([...LARGE].sort())
  })

  test('a route without a body reads none', async () => {
    // They end what the test needs, or begin something.
    const left = /signout|logout|me\/sessions|secrets\/rotate|backups$/
    for (const [route, body] of routes) {
      const [method = '', path = ''] = route.split(' ')
      if (body || left.test(path)) continue
      const query = path.endsWith('/spaces/{guid}') ? '?confirm=nothing' : ''
      const status = await statusUnread(method, addressOf(path) + query, [
        json,
        `authorization: Bearer ${token}`,
      ])
      expect([route, status < 500 && status !== 413 && status !== 400]).toEqual([route, true])
    }
  })
})

describe('a body that is packed is refused with 415, wherever it is sent', () => {
  test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'anything'])('%s', async (encoding) => {
    const packed = [`content-encoding: ${encoding}`, json]
    expect(await statusUnread('POST', '/api/v1/open', packed)).toBe(415)
    expect(await statusUnread('POST', '/open', [`content-encoding: ${encoding}`, form])).toBe(415)
    expect(await statusUnread('POST', '/login', [`content-encoding: ${encoding}`, form])).toBe(415)
    for (const [route, body] of routes) {
      const [method = '', path = ''] = route.split(' ')
      // Of a hook without a run nothing is read.
      if (!body || path.includes('_hooks')) continue
      const status = await statusUnread(method, addressOf(path), [
        ...packed,
        `authorization: Bearer ${token}`,
      ])
      expect([route, status]).toEqual([route, 415])
    }
  })

  test('packed for the transfer only, too', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /api/v1/open HTTP/1.1\r\nhost: a\r\n${json}\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    )
    const reply = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.destroy()
    expect(reply).toMatch(/^HTTP\/1\.1 415 /)
  })

  test('identity is no packing', async () => {
    for (const encoding of ['identity', 'Identity', 'identity,identity', '']) {
      const headers = { 'content-encoding': encoding }
      const reply = await quoin.send('POST', '/open', { body: { a: 1 }, headers })
      expect([encoding, reply.status, reply.text]).toEqual([encoding, 200, '{"a":1}'])
      const searched = await quoin.send('POST', '/users/search', { as: 'admin', body: {}, headers })
      expect(searched.status).toBe(200)
    }
  })
})

describe('a document has 10,000 fields at most, through every door', () => {
  const names = Array.from({ length: 10_001 }, (_, at) => `f${at}`)
  const wide = Object.fromEntries(names.map((name) => [name, 1]))
  const error = expect.stringContaining('more than 10,000 fields')
  const count = async () => (await quoin.documents('wides')).length

  beforeAll(async () => {
    await quoin.manage('POST', '/_system/storages', { name: 'wides' })
    await quoin.install('doors', {
      wides: {
        type: 'on_startup_register_resource',
        in: { uri: 'wides', storage: 'wides' },
        scopes: ['*public'],
      },
      take: { type: 'on_startup_register_uri_post', in: { uri: 'wide-objects' }, scopes: ['*public'] },
      keep: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@take.flow', storage: 'wides', set: '=body' },
      },
      kept: { type: 'reply', in: { flow: '@keep.flow', value: 'kept' } },
    })
  })

  test.each<[string, JsonValue]>([
    ['wide', wide],
    ['wide inside', { list: [{ inside: wide }] }],
  ])('%s', async (_name, body) => {
    const { manage, send } = quoin
    const storages = await manage('POST', '/_system/storages/search', { filters: { name: 'wides' } })
    const path = `/_system/storages/${guidOf(objectsOf(storages)[0])}/documents`
    const before = await count()
    const one = guidOf(await manage('POST', path, { a: 1 }))
    for (const [method, door, sent] of [
      ['POST', path, body],
      ['PUT', `${path}/${one}`, body],
      ['POST', `${path}/update-many`, { guids: [one], set: body }],
      ['POST', `${path}/put-back`, { changes: [{ guid: one, from: {}, to: body }] }],
    ] as const) {
      const refused = await send(method, door, { as: 'admin', body: sent })
      expect([door, refused.status, objectOf(refused.body).message]).toEqual([door, 400, error])
    }
    for (const door of ['/wides', '/wide-objects']) {
      const refused = await send('POST', door, { body })
      expect([door, refused.status, objectOf(refused.body).error]).toEqual([door, 400, error])
    }
    const imported = await quoin.quoin.server.app.inject({
      method: 'POST',
      url: `/api/v1${path}/import`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      payload: JSON.stringify(body),
    })
    expect([imported.statusCode, imported.json().message]).toEqual([400, error])
    expect(await count()).toBe(before + 1)
    expect(await quoin.documents('wides')).toContainEqual(expect.objectContaining({ a: 1 }))
  })
})
