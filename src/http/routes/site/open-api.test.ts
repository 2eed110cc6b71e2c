import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTemporaryServer } from '../../../../test/temporary-server.ts'
import { mayEnter } from '../../../access/scopes.ts'
import type { DescribeEndpoints } from '../../docs/endpoint-descriptions.ts'
import type { ApiDocument, ApiOperation, ExtraPaths } from '../../docs/open-api-document.ts'

const nasty = `</code><script>alert("1")</script><img src=x onerror='a'>&`

const operation = (summary: string): ApiOperation => ({
  summary,
  description: nasty,
  tags: ['Tasks'],
  parameters: [{ name: nasty, in: 'query', description: nasty, schema: { type: 'string', enum: [nasty] } }],
  requestBody: {
    content: {
      'application/json': {
        schema: { type: 'object', required: [nasty], properties: { [nasty]: { type: 'string' } } },
      },
    },
  },
  responses: { '200': { description: nasty }, '404': { description: nasty } },
})

let active = true

const endpoints: DescribeEndpoints = async (identity): Promise<ExtraPaths> => ({
  tags: [{ name: 'Tasks', description: nasty }],
  paths: active
    ? {
        '/api/v1/tasks': { get: operation('Open tasks'), post: operation(nasty) },
        ...(mayEnter(['*loggedin'], identity) && { '/api/v1/tasks/{guid}': { put: operation('For users') } }),
      }
    : {},
})

let server: TemporaryServer

beforeAll(async () => {
  server = await openTemporaryServer({ endpoints })
})
afterAll(() => server.close())

const read = async (headers: Record<string, string> = {}): Promise<ApiDocument> =>
  (await server.app.inject({ url: '/api/v1/openapi.json', headers })).json()

const operationsOf = (document: ApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
  )

describe('the OpenAPI document', () => {
  it('describes every route: what it is for, where it belongs, what it replies and how it fails', async () => {
    active = false
    const operations = operationsOf(await read())
    active = true
    expect(operations.length).toBeGreaterThan(10)
    for (const [name, one] of operations) {
      expect(one.summary, name).toBeTruthy()
      expect(one.operationId, name).toBeTruthy()
      expect(one.tags, name).toHaveLength(1)
      expect(one.responses['200']?.content?.['application/json']?.schema, name).toBeDefined()
      expect(one.responses['500']?.content?.['application/json']?.schema, name).toEqual({
        $ref: '#/components/schemas/Error',
      })
      for (const parameter of one.parameters ?? []) expect(parameter.schema, name).toBeDefined()
    }
    const ids = operations.map(([, one]) => one.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('points to nothing that is not there', async () => {
    const document = await read()
    const pointers = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)
    const names = new Set([...pointers].map(([, name]) => name))
    expect(names.size).toBeGreaterThan(0)
    for (const name of names) expect(document.components?.schemas).toHaveProperty(String(name))
  })

  it('says of each route who may call it', async () => {
    const { paths } = await read()
    const search = paths['/api/v1/users/search']?.post
    expect(search?.security).toEqual([{ bearer: [] }, { apiKey: [] }])
    expect(search?.description).toContain('users_view')
    expect(Object.keys(search?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '413',
      '415',
      '422',
      '500',
      '503',
    ])
    expect(search?.responses['200']?.headers).toHaveProperty('x-total-count')
    expect(Object.keys(paths['/api/v1/auth/signin']?.post?.responses ?? {})).toContain('401')
    const info = paths['/api/v1/info']?.get
    expect(info?.security).toEqual([])
    expect(Object.keys(info?.responses ?? {})).toEqual(['200', '429', '500', '503'])
  })

  it('holds what blueprints add, as far as the caller may enter it, at the time of the request', async () => {
    const paths = async (headers = {}) =>
      Object.keys((await read(headers)).paths).filter((path) => path.includes('tasks'))
    expect(await paths()).toEqual(['/api/v1/tasks'])
    expect(await paths(await server.as('admin'))).toEqual(['/api/v1/tasks', '/api/v1/tasks/{guid}'])
    active = false
    expect(await paths()).toEqual([])
    active = true
    expect((await read({ 'x-token': 'nonsense' })) as object).toMatchObject({ error: 'INVALID_ACCESS_TOKEN' })
  })
})

describe('both', () => {
  it.each(['/docs', '/api/v1/openapi.json'])('%s is sent as small as the client takes it', async (url) => {
    const sent = async (accepted: string) => {
      const { headers, rawPayload } = await server.app.inject({
        url,
        headers: { 'accept-encoding': accepted },
      })
      expect(headers.vary).toBe('accept-encoding')
      return { encoding: headers['content-encoding'], bytes: rawPayload }
    }
    const plain = await sent('')
    const gzip = await sent('gzip, br;q=0')
    const br = await sent('gzip, br')
    expect([plain.encoding, gzip.encoding, br.encoding]).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
    expect(brotliDecompressSync(br.bytes)).toEqual(plain.bytes)
    expect(br.bytes.length * 5).toBeLessThan(plain.bytes.length)
  })
})

describe('the page', () => {
  const page = () => server.app.inject({ url: '/docs', headers: { host: 'quoin.example' } })

  it('runs nothing and loads nothing but its own style', async () => {
    const { headers, body } = await page()
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    })
    const tags = [...body.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag)
    expect(tags.length).toBeGreaterThan(100)
    expect(tags.filter((tag) => /^<(script|img|style)|\s(style|on\w+)=/i.test(tag))).toEqual([])
    const loaded = [...body.matchAll(/<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"/g)].map(
      ([, url]) => url,
    )
    expect(loaded).toEqual(['/docs/docs-page.css'])
    const style = await server.app.inject('/docs/docs-page.css')
    expect([style.statusCode, style.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8'])
    expect(style.body).not.toMatch(/url\(|@import/)
  })

  it('shows what builders wrote as text', async () => {
    const { body } = await page()
    expect(body).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;')
    expect(body).not.toContain("onerror='")
  })

  it('has every operation once, under an anchor that the list leads to, blueprints first', async () => {
    const { body } = await page()
    const ids = [...body.matchAll(/<article id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toHaveLength(operationsOf(await read()).length)
    expect(new Set(ids).size).toBe(ids.length)
    const links = new Set([...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id))
    for (const id of ids) expect(links).toContain(id)
    expect(body.indexOf('Open tasks')).toBeLessThan(body.indexOf('List or search users'))
    for (const id of links) expect(body).toContain(`id="${id}"`)
  })

  it('describes the fields of every record once, and links to them', async () => {
    const { body } = await page()
    expect(body.match(/<code>update_hash<\/code>/g)).toHaveLength(1)
    expect(body).not.toContain('_meta.update_hash</code>')
    // A part of it, as in the reply to a sign-in, is described where it is.
    expect(body).toContain('<code>user._meta.guid</code>')
    expect(body.match(/href="#record-meta"/g)?.length).toBeGreaterThan(5)
    expect(body.indexOf('id="record-meta"')).toBeGreaterThan(body.lastIndexOf('<article'))
  })

  it('has no column that is empty in every row', async () => {
    const { body } = await page()
    const tables = body.match(/<table>.*?<\/table>/gs) ?? []
    expect(tables.length).toBeGreaterThan(30)
    for (const table of tables) {
      const columns = table.match(/<th scope="col">/g)?.length ?? 0
      const rows = table.match(/<tr>.*?<\/tr>/gs)?.slice(1) ?? []
      for (const row of rows) expect(row.match(/<t[hd][ >]/g)).toHaveLength(columns)
      const last = rows.map((row) => /<t[hd][^>]*>((?:(?!<t[hd][ >]).)*)<\/t[hd]>\s*<\/tr>$/s.exec(row)?.[1])
      expect(last.some((cell) => cell !== '')).toBe(true)
    }
  })

  it('gives commands that take the address and the token from the shell', async () => {
    const { body } = await page()
    expect(body).toContain('curl -X POST &quot;$QUOIN/api/v1/auth/signin&quot;')
  })
})
