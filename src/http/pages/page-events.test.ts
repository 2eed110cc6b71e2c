import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { setFields } from '../../shared/mutation.ts'

let fixture: TestQuoin
let origin: string
let guid: string

const blocks = {
  list: { type: 'storage', fields: { storage: 'list' } },
  page: { type: 'state_page', in: { url: 'list' }, scopes: ['*loggedin'] },
  table: { type: 'state_advanced_datatable', in: { storage: '@list.storage', columns: ['name'] } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
}

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  guid = await fixture.install('List', blocks)
})
afterAll(() => fixture?.close())

/** Opens the events of the page as a visitor sees it now. */
async function listen(token: string, page = '/list') {
  const visitor = openVisitor(origin)
  visitor.setCookie('access_token', token)
  const { html } = await visitor.get(page)
  const address = /data-events="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  if (address === undefined) throw new Error(`The page says no address of events:\n${html}`)
  return {
    address,
    async open() {
      const abort = new AbortController()
      const reply = await fetch(new URL(address, origin), {
        headers: { cookie: `access_token=${token}`, accept: 'text/event-stream' },
        signal: abort.signal,
      })
      const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      return {
        reply,
        /** What was told until this came, or until the end. */
        async until(requested: string | undefined): Promise<string> {
          while (requested === undefined || !text.includes(requested)) {
            const { done, value } = (await reader?.read()) ?? { done: true }
            if (done) return `${text}(end)`
            text += value
          }
          return text
        },
        forget() {
          text = ''
        },
        close: () => abort.abort(),
      }
    },
  }
}

async function write(name: string): Promise<void> {
  const session = fixture.quoin.database.session()
  await session.create('list', setFields({ name }))
  await session.transaction.commit()
}

test('a change is told, and what changed between the page and its events too', async () => {
  const page = await listen(await fixture.tokenOf('admin'))
  await write('before')
  const events = await page.open()
  expect(events.reply.headers.get('content-type')).toContain('text/event-stream')
  expect(await events.until('data:')).toContain('event: changed\ndata: {"table":"list"}\n\n')
  events.forget()
  await write('after')
  expect(await events.until('data:')).toContain('{"table":"list"}')
  events.close()
})

test('nothing is told when nothing changed, and of no other storage', async () => {
  const events = await (await listen(await fixture.tokenOf('admin'))).open()
  const session = fixture.quoin.database.session()
  await fixture.quoin.database.ensure('elsewhere')
  await session.create('elsewhere', setFields({ a: 1 }))
  await session.transaction.commit()
  // The stream is alive, and a later change is the first that it tells.
  expect(await events.until('retry')).not.toContain('changed')
  await write('now')
  expect((await events.until('data:')).match(/changed/g)).toHaveLength(1)
  events.close()
})

test('events that another node, or another life of this one, promised are told at once', async () => {
  const { address } = await listen(await fixture.tokenOf('admin'))
  const cookie = `access_token=${await fixture.tokenOf('admin')}`
  const abort = new AbortController()
  const old = address.replace(/_events=[^&]+/, '_events=another.7')
  const reply = await fetch(new URL(old, origin), { headers: { cookie }, signal: abort.signal })
  let text = ''
  for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes('changed')) break
  }
  expect(text).toContain('{"table":"list"}')
  abort.abort()
})

test('they end with the session', async () => {
  const { access_token: token } = await fixture.quoin.access.signIn({
    username: 'admin',
    password: 'correct horse battery staple',
    ip: '127.0.0.1',
  })
  const events = await (await listen(token)).open()
  await events.until('retry')
  await fixture.quoin.access.signOut(token)
  expect(await events.until(undefined)).toContain('(end)')
})

test('they end when the blueprint is deactivated or deployed again', async () => {
  const events = await (await listen(await fixture.tokenOf('admin'))).open()
  await events.until('retry')
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect(await events.until(undefined)).toContain('(end)')
  await fixture.manage('PUT', `/blueprints/update/set/active/${guid}`)
})

test('visitors without the scope get no events', async () => {
  const { address } = await listen(await fixture.tokenOf('admin'))
  const reply = await fetch(new URL(address, origin), { redirect: 'manual' })
  expect(reply.status).toBe(303)
})

test('one address cannot take all of them', async () => {
  const page = await listen(await fixture.tokenOf('admin'))
  const open = []
  for (let i = 0; i < 20; i += 1) open.push(await page.open())
  expect((await page.open()).reply.status).toBe(429)
  for (const events of open) events.close()
})

test('they end when the server closes, at once', async () => {
  const other = await openTestQuoin()
  const address = await other.quoin.server.listen()
  await other.install('List', { ...blocks, page: { type: 'state_page', in: { url: 'list' } } })
  const html = await (await fetch(`${address}/list`, { headers: { accept: 'text/html' } })).text()
  const path = /data-events="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const reply = await fetch(`${address}${path}`)
  const text = reply.text()
  const began = Date.now()
  await other.close()
  expect(await text).toContain('retry')
  // Requests in flight have 10 seconds; events must not take them.
  expect(Date.now() - began).toBeLessThan(8_000)
})
