/** Applications beside the live ones: who makes them, what is separate, what reaches outside, and what is left at their end. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { folderScopes } from '../../src/shared/management-scopes.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTestCluster, type TestCluster } from './space-fixture.ts'

const root = '/_system/previews'
const HOST = 'quoin.example.test'

let cluster: TestCluster
let mails: MailServer
let other: Server
let calls = 0
beforeAll(async () => {
  mails = await openMailServer({ authOptional: true })
  other = createServer((_request, response) => {
    calls += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"from":"outside"}')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  cluster = await openTestCluster({
    QUOIN_PUBLIC_URL: `https://${HOST}`,
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'quoin@example.test',
    QUOIN_RATE_LIMIT: '0',
  })
  const { operator } = cluster
  await operator.addUser('view', ['applications_view'])
  await operator.addUser('push', ['applications_update', ...folderScopes])
  await push(application({}))
  for (const text of ['one', 'two', 'three'])
    await operator.send('POST', '/notes', {
      ...{ as: 'admin', body: { text: `${text} of a customer`, api_token: 'of a customer' } },
    })
}, 60_000)
afterAll(async () => {
  for (const { name } of await listed()) await operator('DELETE', `${root}/${String(name)}`)
  await cluster.close()
  await mails.close()
  other.close()
})

const operator = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: JsonValue) =>
  cluster.operator.manage(method, path, body)
const listed = async () => objectsOf(await operator('GET', root))

/** An endpoint that adds, one that lists, a page with a form, and one that calls and mails. */
function application(more: { version?: string; field?: JsonObject; name?: string }): JsonObject {
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  const { version = 'live', field = { text: { type: 'string', required: true } }, name = 'notes' } = more
  const [text = ''] = Object.keys(field)
  return {
    about: { name, title: 'Notes', needs: { env: ['GREETING'] } },
    blueprints: {
      notes: {
        name: `Notes ${name}`,
        blocks: {
          add: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['notes_write'] },
          create: {
            type: 'function_create_document_from_mutations',
            in: { flow: '@add.flow', storage: name, set: '=body' },
          },
          added: { type: 'reply', in: { flow: '@create.flow', value: '@create.document' } },
          list: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
          search: { type: 'function_search', in: { flow: '@list.flow', storage: name } },
          listed: {
            type: 'reply',
            in: {
              flow: '@search.flow',
              value: `=({ version: '${version}', greeting: env.GREETING, notes: search.documents.map(d => ({ text: d.${text}, secret: d.api_token })) })`,
            },
          },
          page: { type: 'state_page', in: { title: 'Notes', url: `${name}/new` }, scopes: ['notes_write'] },
          form: {
            type: 'state_form',
            in: { form_id: 'note', inputs: [text], state: '@link.state', storage: name },
          },
          link: { type: 'state_button', in: { kind: 'link', label: 'All', url: `/api/v1/${name}` } },
          shown: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
          stored: {
            type: 'function_create_document_from_mutations',
            in: { flow: '@form.submit', storage: name, set: '=form.values' },
          },
          again: { type: 'state_redirect', in: { flow: '@stored.flow', url: `/${name}/new` } },
          out: { type: 'on_startup_register_uri_get', in: { uri: `${name}/out` }, scopes: ['*public'] },
          mail: {
            type: 'send_mail',
            in: { flow: '@out.flow', to: 'boss@example.test', subject: 'Out', text: 'Out' },
          },
          call: {
            type: 'http_request',
            in: { flow: '@mail.flow', url: `http://127.0.0.1:${port}/`, method: 'GET' },
          },
          answered: { type: 'reply', in: { flow: '@call.flow', value: '@call.body' } },
        },
      },
    },
    storages: { [name]: { fields: { ...field, api_token: { type: 'string' } } } },
    groups: { 'Note writers': { scopes: ['notes_write'] }, Note_writers: { scopes: [] } },
    ...{ templates: {}, tests: {} },
    seed: { [name]: { documents: [{ [text]: 'first' }] } },
  }
}

async function push(input: JsonObject): Promise<void> {
  const planned = objectOf(await operator('POST', '/_system/applications/plan', { application: input }))
  await operator('POST', '/_system/applications/push', { application: input, state: planned.state ?? '' })
}

const make = (as: string | undefined, body: JsonObject) =>
  cluster.operator.send('POST', root, { ...(as !== undefined && { as }), body })
const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: JsonValue) =>
  cluster.ask(
    HOST,
    method,
    path,
    { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body,
  )
const textsAt = async (path: string) =>
  objectsOf(objectOf((await ask('GET', path)).body).notes)
    .map(({ text }) => String(text))
    .sort()

describe('who makes previews', () => {
  test.each([
    ['anonymous', undefined, 401],
    ['who may only look', 'view', 403],
  ])('%s makes none and removes none', async (_name, as, status) => {
    const made = await make(as, { name: 'x', application: application({}) })
    const removed = await cluster.operator.send('DELETE', `${root}/x`, as === undefined ? {} : { as })
    expect([made.status, removed.status, await listed()]).toEqual([status, status, []])
  })

  test('who lacks a scope that the push needs makes none, and nothing is left of it', async () => {
    const made = await make('push', { name: 'x', application: application({}) })
    expect([made.status, made.text]).toEqual([409, expect.stringContaining('scope')])
    expect([await listed(), await dataFolders()]).toEqual([[], []])
  })

  test.each([
    ['a name with a dot', () => ({ name: 'a.b' }), 400],
    ['a month and an hour', () => ({ name: 'x', hours: 721 }), 400],
    ['too many copies', () => ({ name: 'x', copy: 1_001 }), 400],
    [
      'an application without a name',
      (): JsonObject => ({ name: 'x', application: { ...application({}), about: {} } }),
      409,
    ],
  ])('%s is refused, and nothing is made', async (_name, input, status) => {
    const made = await make('admin', { application: application({}), ...input() })
    expect([made.status, await listed(), await dataFolders()]).toEqual([status, [], []])
  })

  test('outside and scripts of templates are refused where pushes need a second person', async () => {
    await operator('POST', '/_system/previews', { name: 'x', application: application({}) })
    await operator('DELETE', `${root}/x`)
    const setting = (value: string) =>
      cluster.operator.manage('PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', { value })
    await setting('notes')
    const templates = { office: { name: 'Office', content: {}, js: 'fetch("/api/v1/notes")' } }
    const outside = await make('admin', { name: 'x', application: application({}), outside: true })
    const script = await make('admin', { name: 'x', application: { ...application({}), templates } })
    await operator('DELETE', '/_system/settings/QUOIN_PUSH_APPROVAL')
    expect([outside.status, script.status, script.text]).toEqual([
      409,
      409,
      expect.stringContaining('blueprinttemplates_script'),
    ])
    expect(await listed()).toEqual([])
  })
})

describe('one that is there', () => {
  let made: JsonObject
  let cookie: string
  beforeAll(async () => {
    await operator('POST', '/_system/environment', { name: 'GREETING', value: 'hello' })
    const renamed = { subject: { was: 'text', type: 'string', required: true } }
    const input = {
      name: 'feature-x',
      application: application({ version: 'draft', field: renamed }),
      copy: 2,
    }
    const reply = await make('admin', input)
    if (reply.status !== 200) throw new Error(reply.text)
    made = objectOf(reply.body)
  }, 60_000)

  test('is listed with its path and its end, also to who may only look', async () => {
    const { body } = await cluster.operator.send('GET', root, { as: 'view' })
    const until = Math.ceil(cluster.operator.now() / 1000) + 24 * 3600
    expect(body).toEqual([
      expect.objectContaining({
        name: 'feature-x',
        application: 'notes',
        path: '/~feature-x/',
        state: 'active',
      }),
    ])
    expect(Math.abs(Number(made.until) - until)).toBeLessThan(120)
  })

  test('has storages of its own, with masked copies of live documents under the new names', async () => {
    expect(made).toMatchObject({ copied: 2, problems: [] })
    expect((await ask('GET', '/~feature-x/api/v1/notes')).body).toMatchObject({
      version: 'draft',
      greeting: 'hello',
    })
    const notes = objectsOf(objectOf((await ask('GET', '/~feature-x/api/v1/notes')).body).notes)
    expect(notes).toHaveLength(2)
    for (const { text, secret } of notes) {
      expect(['one •••', 'two •••', 'three •••', 'first']).toContain(text)
      expect(secret ?? '•••').toBe('•••')
    }
    expect(JSON.stringify(notes)).toContain('•••')
    expect((await ask('GET', '/api/v1/notes')).body).toMatchObject({ version: 'live' })
    const all = ['first', 'one of a customer', 'three of a customer', 'two of a customer']
    expect(await textsAt('/api/v1/notes')).toEqual(all)
  })

  test('has users of its own: those of the cluster are unknown there, and the other way round', async () => {
    expect(made.accounts).toEqual([
      { username: 'admin', group: '' },
      { username: 'note-writers', group: 'Note writers' },
      { username: 'note-writers-2', group: 'Note_writers' },
    ])
    const live = await cluster.operator.tokenOf('admin')
    const add = (path: string, token: string) =>
      ask('POST', path, { authorization: `Bearer ${token}` }, { subject: 'x', text: 'x' })
    expect((await add('/~feature-x/api/v1/notes', live)).status).toBe(404)
    const signedIn = await ask(
      'POST',
      '/~feature-x/api/v1/auth/signin',
      {},
      {
        username: 'note-writers',
        password: made.password ?? '',
      },
    )
    const token = String(objectOf(signedIn.body).access_token)
    expect((await add('/~feature-x/api/v1/notes', token)).status).toBe(200)
    expect((await add('/api/v1/notes', token)).status).toBe(404)
  })

  test('serves no studio, no tools of agents, and lets nothing be managed', async () => {
    const token = await adminToken()
    const admin = { authorization: `Bearer ${token}` }
    const user = { username: 'mallory', password: 'a long password of mallory' }
    const refused = await Promise.all([
      ask('GET', '/~feature-x/studio', admin),
      ask('POST', '/~feature-x/mcp', admin, {}),
      ask('POST', '/~feature-x/api/v1/users', admin, user),
      ask('POST', '/~feature-x/api/v1/%75sers', admin, user),
      ask('POST', '/~feature-x/API/v1/users', admin, user),
      ask('POST', '/~feature-x//api/v1/users', admin, user),
      ask('POST', '/~feature-x/api/v1/blueprinttemplates', admin, { name: 'x', js: 'x' }),
      ask('POST', '/~feature-x/api/v1/users#a', admin, user),
      ask('GET', '/~feature-x/studio#a', admin),
    ])
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404))
    expect((await ask('GET', '/~feature-x/api/v1/users/me', admin)).status).toBe(200)
  })

  async function adminToken(): Promise<string> {
    const body = { username: 'admin', password: made.password ?? '' }
    const { body: signedIn } = await ask('POST', '/~feature-x/api/v1/auth/signin', {}, body)
    return String(objectOf(signedIn).access_token)
  }

  test('a browser signs in and sends a form below its path alone', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
    const asked = await ask('GET', '/~feature-x/notes/new', { accept: 'text/html' })
    expect([asked.status, asked.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/~feature-x\/login\?next=%2Fnotes%2Fnew/),
    ])
    const login = await ask('GET', String(asked.headers.location), { accept: 'text/html' })
    expect(login.text).toMatch(/action="\/~feature-x\/login/)
    expect(login.text).not.toMatch(/(?:href|src|action)="\/(?!~feature-x\/)/)
    const visitor = cookiesOf(login.headers)
    const fields = { username: 'note-writers', password: String(made.password), ...hiddenIn(login.text) }
    const signedIn = await sent('/~feature-x/login?next=%2Fnotes%2Fnew', fields, { ...form, cookie: visitor })
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/~feature-x/notes/new'])
    const [set] = [signedIn.headers['set-cookie']]
      .flat()
      .map(String)
      .filter((one) => /access_token=./.test(one))
    expect(set).toMatch(/^~feature-x\.access_token=.*Path=\/~feature-x\/;/)
    cookie = cookiesOf(signedIn.headers)
    const page = await ask('GET', '/~feature-x/notes/new', { accept: 'text/html', cookie })
    expect([page.status, page.text]).toEqual([
      200,
      expect.stringContaining('href="/~feature-x/api/v1/notes"'),
    ])
    expect(String(page.headers['content-security-policy'])).not.toContain("'self'")
    expect(String(page.headers['content-security-policy'])).toContain(`connect-src ${HOST}/~feature-x/`)
    const stored = await sent(
      '/~feature-x/notes/new',
      { subject: 'by form', ...hiddenIn(page.text) },
      { ...form, cookie },
    )
    expect([stored.status, stored.headers.location]).toEqual([303, '/~feature-x/notes/new'])
    expect(await textsAt('/~feature-x/api/v1/notes')).toContain('by form')
    expect(await textsAt('/api/v1/notes')).not.toContain('by form')
  })

  test('the session of a preview is none of the cluster, whatever its cookie is called', async () => {
    const renamed = cookie.replaceAll('~feature-x.', '')
    for (const sentCookie of [cookie, renamed])
      expect((await ask('GET', '/notes/new', { accept: 'text/html', cookie: sentCookie })).status).toBe(303)
    const live = `access_token=${await cluster.operator.tokenOf('admin')}`
    for (const sentCookie of [live, `~feature-y.${live}`])
      expect(
        (await ask('GET', '/~feature-x/notes/new', { accept: 'text/html', cookie: sentCookie })).status,
      ).toBe(303)
  })

  test('calls no other server and sends no mail, unless it was asked for', async () => {
    expect((await ask('GET', '/~feature-x/api/v1/notes/out')).status).toBeGreaterThanOrEqual(400)
    const space = await cluster.operator.quoin.spaces?.enter('~feature-x')
    const jobs = async () =>
      (await space?.database.capabilities.queues.list())?.reduce(
        (sum, { waiting, running }) => sum + waiting + running,
        0,
      )
    await expect.poll(jobs, { timeout: 20_000 }).toBe(0)
    expect([calls, mails.arrived.length]).toEqual([0, 0])
  })

  test('the same name again pushes into it and moves its end, and is refused to another application', async () => {
    const renamed = { subject: { was: 'text', type: 'string', required: true } }
    const again = {
      name: 'feature-x',
      application: application({ version: 'second', field: renamed }),
      hours: 48,
    }
    expect(await make('admin', again)).toMatchObject({
      status: 200,
      body: { release: 2, accounts: [], password: null },
    })
    expect((await ask('GET', '/~feature-x/api/v1/notes')).body).toMatchObject({ version: 'second' })
    expect(await textsAt('/~feature-x/api/v1/notes')).toContain('by form')
    const foreign = await make('admin', { name: 'feature-x', application: application({ name: 'others' }) })
    expect(foreign.status).toBe(409)
    const [{ until } = {}] = await listed()
    expect(Number(until)).toBeGreaterThan(Number(made.until) + 23 * 3600)
  })

  test('at its end it is gone, with its data', async () => {
    await operator('POST', root, { name: 'short', application: application({ version: 'short' }), hours: 1 })
    expect((await ask('GET', '/~short/api/v1/notes')).status).toBe(200)
    cluster.operator.advance(3_601_000)
    expect((await ask('GET', '/~short/api/v1/notes')).status).toBe(404)
    await cluster.operator.quoin.spaces?.check()
    await expect.poll(async () => (await listed()).map(({ name }) => name)).toEqual(['feature-x'])
    expect(await dataFolders()).toHaveLength(1)
  })

  test('one command removes it, and what is live is as it was', async () => {
    await operator('DELETE', `${root}/feature-x`)
    expect((await cluster.operator.send('DELETE', `${root}/feature-x`, { as: 'admin' })).status).toBe(404)
    expect([await listed(), await dataFolders()]).toEqual([[], []])
    expect((await ask('GET', '/~feature-x/api/v1/notes')).status).toBe(404)
    expect((await ask('GET', '/api/v1/notes')).body).toMatchObject({ version: 'live' })
  })
})

async function dataFolders(): Promise<string[]> {
  const folder = join(cluster.operator.directory, 'spaces')
  return existsSync(folder) ? readdir(folder) : []
}

function cookiesOf(headers: Readonly<Record<string, unknown>>): string {
  return [headers['set-cookie']]
    .flat()
    .flatMap((one) => (one === undefined ? [] : [String(one).replace(/;.*/s, '')]))
    .join('; ')
}

/** Of the first form. */
function hiddenIn(html: string): Record<string, string> {
  const [form = ''] = /<form [^>]*class="form".*?<\/form>/s.exec(html) ?? []
  const found = form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]))
}

async function sent(path: string, fields: Record<string, string>, headers: Record<string, string>) {
  const { port } = cluster
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...{ method: 'POST', redirect: 'manual', headers },
    body: new URLSearchParams(fields).toString(),
  })
  return {
    status: reply.status,
    headers: {
      location: reply.headers.get('location'),
      'set-cookie': reply.headers.getSetCookie(),
    } as Record<string, unknown>,
  }
}
