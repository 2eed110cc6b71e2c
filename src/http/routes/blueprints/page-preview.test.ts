import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type TestQuoin,
} from '../../../../test/end-to-end/harness.ts'
import type { JsonObject } from '../../../shared/json.ts'

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await fixture.manage('POST', '/_system/storages', { name: 'notes' })
  await fixture.manage('POST', '/_system/storages/notes/documents', { title: 'Milk & <b>bread</b>' })
  await fixture.addUser('builder', ['blueprints_update', 'blueprintactions_view', 'blueprintactions_update'])
  await fixture.addUser('looker', ['blueprints_update', 'blueprintactions_view'])
})
afterAll(() => fixture?.close())

/** Guid of the block of this name. */
async function blockOf(blueprint: string, name: string): Promise<string> {
  const blocks = objectsOf(await fixture.manage('GET', `/blueprints/${blueprint}/blocks`))
  return guidOf(blocks.find((one) => one.name === name) ?? {})
}

async function preview(blueprint: string, more: JsonObject = {}, as = 'builder') {
  const page = await blockOf(blueprint, 'page')
  return fixture.send('POST', `/blueprints/${blueprint}/preview`, { as, body: { page, ...more } })
}

async function previewed(blueprint: string, more: JsonObject = {}): Promise<JsonObject> {
  const { status, body, text } = await preview(blueprint, more)
  expect([status, text]).toEqual([200, expect.anything()])
  return objectOf(body)
}

const shown = (blocks: JsonObject, state: string, flow = '@page.flow'): JsonObject => ({
  ...blocks,
  show: { type: 'state_render_page', in: { flow, ...(state !== '' && { state }) } },
})
const page = (url: string) => ({ type: 'state_page', in: { url, title: 'A page' } })

describe('what a preview shows', () => {
  test('staged blocks, where visitors see the deployed ones, and no reply sets a cookie', async () => {
    const blocks = { page: page('staged'), h1: { type: 'state_h1', in: { text: 'Deployed' } } }
    const guid = await fixture.install('Staged', shown(blocks, '@h1.state'))
    const text = { in_pins: [{ id: 'text', value: 'Staged <i>now</i>' }] }
    await fixture.manage('PUT', `/blueprintactions/${await blockOf(guid, 'h1')}`, text)
    const reply = await preview(guid)
    const { html, failure, redirect } = objectOf(reply.body)
    expect([reply.status, failure, redirect]).toEqual([200, null, null])
    expect(html).toContain('Staged &lt;i>now&lt;/i>')
    expect(html).not.toContain('Deployed')
    expect(reply.headers['set-cookie']).toBeUndefined()
  })

  test('stored documents, parameters and query; and forms without a token', async () => {
    const blocks = {
      page: page('notes/{name}'),
      h1: { type: 'state_h1', in: { text: "=page.params.name + ' ' + page.params.x" } },
      table: {
        type: 'state_advanced_datatable',
        in: { state: '@h1.state', storage: 'notes', columns: [{ field: 'title' }] },
      },
      form: { type: 'state_form', in: { state: '@table.state', form_id: 'note', inputs: ['note'] } },
    }
    const guid = await fixture.install('Notes', shown(blocks, '@form.state'))
    const { html } = await previewed(guid, { parameters: { name: 'a/b' }, query: 'x=7', theme: 'dark' })
    expect(html).toContain('a/b 7')
    expect(html).toContain('Milk &amp; &lt;b>bread&lt;/b>')
    expect(html).toContain('data-theme="dark"')
    expect(html).toContain('<form')
    expect(html).not.toContain('_csrf')
    expect(html).not.toContain('.js"')
  })
})

describe('an unfinished part leaves the preview of the rest', () => {
  const blocks = {
    page: page('unfinished'),
    sums: { type: 'function_aggregate', in: { flow: '@page.flow', storage: 'notes' } },
    above: { type: 'state_h1', in: { text: 'Above' } },
    chart: {
      type: 'state_chart',
      in: { state: '@above.state', title: 'Sums', items: '@sums.rows', label: 'count', values: ['count'] },
    },
    below: { type: 'state_text', in: { state: '@chart.state', text: 'Below' } },
  }

  test.each<[string, string, string, JsonObject]>([
    ['a pin that is needed is empty', 'chart', 'items', {}],
    ['a step of the flow is not set up, nor what reads it', 'sums', 'storage', {}],
    ['it fails in the run', 'chart', 'values', { expression: '["count", 1]' }],
  ])('%s', async (_, name, pin, value) => {
    const guid = await fixture.install('Unfinished', shown(blocks, '@below.state', '@sums.flow'))
    const block = objectsOf(await fixture.manage('GET', `/blueprints/${guid}/blocks`)).find(
      (one) => one.name === name,
    )
    const others = objectsOf(block?.in_pins).filter(({ id }) => id !== pin)
    const in_pins = [...others, ...(Object.keys(value).length > 0 ? [{ id: pin, ...value }] : [])]
    await fixture.manage('PUT', `/blueprintactions/${guidOf(block ?? {})}`, { in_pins })
    const { html, failure } = await previewed(guid)
    expect(html).toContain('Above')
    expect(html).toContain('Below')
    expect(html).not.toContain('<figure')
    expect(failure).toMatchObject({ block: guidOf(block ?? {}), pin })
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  })
})

describe('what a preview leaves', () => {
  test('no document: what its flow wrote it sees, and it is undone', async () => {
    const blocks = {
      page: page('writes'),
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@page.flow', storage: 'made', set: "={ title: 'Made' }" },
      },
      h1: { type: 'state_h1', in: { text: '=create.document.title' } },
    }
    const guid = await fixture.install('Writes', shown(blocks, '@h1.state', '@create.flow'))
    const { html, failure } = await previewed(guid)
    expect([failure, html]).toEqual([null, expect.stringContaining('Made')])
    expect(await fixture.documents('made')).toEqual([])
  })

  test.each(['another blueprint', 'its own blueprint'])(
    'no request to another server, in a function of %s',
    async (of) => {
      const name = of.slice(0, 3)
      const called = {
        call: { type: 'trigger_custom_function', fields: { name } },
        request: { type: 'http_request', in: { url: 'http://127.0.0.1:9/', flow: '@call.flow' } },
      }
      const isOwn = of.startsWith('its')
      if (!isOwn) await fixture.install('Outside', called)
      const blocks = {
        page: page(`calls-${name}`),
        run: { type: 'function_custom_execute', in: { flow: '@page.flow', function: name } },
        ...(isOwn && called),
      }
      const guid = await fixture.install(`Calls ${name}`, shown(blocks, '', '@run.flow'))
      const { html, failure } = await previewed(guid)
      expect(html).toBeNull()
      expect(failure).toMatchObject({ message: expect.stringContaining('A preview has no effects') })
      expect((await fixture.systemLog()).filter(({ level }) => level === 'error')).toEqual([])
    },
  )
})

describe('what a preview refuses', () => {
  test.each([undefined, 'looker'])('%s may not', async (as) => {
    const guid = await fixture.install(`Mine ${as}`, shown({ page: page(`mine-${as}`) }, ''))
    const body = { page: await blockOf(guid, 'page') }
    const { status } = await fixture.send('POST', `/blueprints/${guid}/preview`, { body, ...(as && { as }) })
    expect(status).toBe(as ? 403 : 401)
  })

  test('a block that is no page, and one of another blueprint', async () => {
    const guid = await fixture.install('Refused', shown({ page: page('refused') }, ''))
    const other = await fixture.install('Other', shown({ page: page('other') }, ''))
    const ask = async (block: string) =>
      (await fixture.send('POST', `/blueprints/${guid}/preview`, { as: 'builder', body: { page: block } }))
        .status
    expect(await ask(await blockOf(guid, 'page'))).toBe(200)
    expect(await ask(await blockOf(guid, 'show'))).toBe(404)
    expect(await ask(await blockOf(other, 'page'))).toBe(404)
  })

  test('blocks that cannot run, with their problems', async () => {
    const guid = await fixture.install('Broken', shown({ page: page('broken') }, ''))
    await fixture.manage('PUT', `/blueprintactions/${await blockOf(guid, 'page')}`, { in_pins: [] })
    const { status, body } = await preview(guid)
    expect([status, body]).toEqual([422, expect.objectContaining({ problems: expect.anything() })])
  })
})

describe('what a page is made of', () => {
  const blocks = {
    page: page('made'),
    fixed: { type: 'state_h1', in: { text: 'Fixed' } },
    more: { type: 'state_text', in: { state: '@fixed.state', text: '=page.params.x ?? "none"' } },
    table: {
      type: 'state_advanced_datatable',
      in: { state: '@more.state', storage: 'notes', columns: [{ field: 'title' }] },
    },
    card: { type: 'state_card', in: { content: '@table.state', title: 'Around' } },
  }
  const marks = (html: unknown) =>
    [...String(html).matchAll(/<(\w+)[^>]*? data-block="([^"]+)"/g)].map(([, tag = '', guid]) => [tag, guid])

  test('each part carries the guid of its block: of constants, in a run, tables, and inside of others', async () => {
    const guid = await fixture.install('Made', shown(blocks, '@card.state'))
    const found = marks((await previewed(guid)).html)
    const named = await Promise.all(['card', 'fixed', 'more', 'table'].map((name) => blockOf(guid, name)))
    expect(found.map(([, block]) => block)).toEqual(named)
    expect(found.map(([tag]) => tag).slice(1, 3)).toEqual(['h2', 'p'])
  })

  test('a page that visitors see carries none', async () => {
    const reply = await fixture.quoin.server.app.inject({ url: '/made' })
    expect([reply.statusCode, reply.body.includes('data-block')]).toEqual([200, false])
  })
})
