import { randomFillSync } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type TestQuoin,
} from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { openSigningSecret } from '../../records/secrets/signing-secret.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { fileAddresses } from './private-files.ts'

let fixture: TestQuoin
let origin: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  await fixture.install('Letters', {
    letters: { type: 'storage', fields: { storage: 'letters' } },
    page: { type: 'state_page', in: { url: 'letters', title: 'Letters' } },
    title: { type: 'state_input_dynamic', in: { field: 'title', required: true } },
    scan: {
      type: 'state_input_dynamic',
      in: { state: '@title.state', field: 'scan', type: 'file', required: true },
    },
    more: {
      type: 'state_input_dynamic',
      in: { state: '@scan.state', field: 'more', type: 'file', multiple: true },
    },
    form: { type: 'state_form', in: { form_id: 'add', content: '@more.state' } },
    table: {
      type: 'state_advanced_datatable',
      in: {
        state: '@form.state',
        storage: '@letters.storage',
        columns: ['title', { field: 'scan', kind: 'file' }, { field: 'more', kind: 'image' }],
      },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
    fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@form.submit', storage: '@letters.storage', mutations: '@fields.mutations' },
    },
    post: { type: 'on_startup_register_uri_post', in: { uri: 'letters' } },
    sent: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
    add: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: '@letters.storage', mutations: '@sent.mutations' },
    },
    added: { type: 'httpconnection_set_json', in: { flow: '@add.flow', value: '@add.document' } },
    files: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'files' },
      fields: { accepts: 'multipart' },
      scopes: ['*public'],
    },
    filed: { type: 'mutations_set_bp_field_multiple', in: { object: '@files.body' } },
    add_file: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@files.flow', storage: '@letters.storage', mutations: '@filed.mutations' },
    },
    file_added: {
      type: 'httpconnection_set_json',
      in: { flow: '@add_file.flow', code: 201, value: '@add_file.document' },
    },
    one: { type: 'state_page', in: { url: 'letters/{guid}' } },
    guid: { type: 'httpconnection_get_params', in: { field: 'guid' } },
    get: {
      type: 'function_get_document',
      in: { flow: '@one.flow', storage: '@letters.storage', guid: '@guid.value' },
    },
    detail: {
      type: 'state_detail',
      in: {
        document: '@get.document',
        fields: [
          { field: 'scan', kind: 'file' },
          { field: 'more', kind: 'image' },
        ],
      },
    },
    show_one: { type: 'state_render_page', in: { flow: '@get.flow', state: '@detail.state' } },
    bad: { type: 'condition_not_empty_value', in: { value: '@bad_field.value' } },
    bad_field: { type: 'state_form_get', in: { form_id: 'add', field: 'more' } },
    branch: { type: 'branch', in: { flow: '@create.flow', condition: '@bad.condition' } },
    refuse: {
      type: 'state_form_error',
      in: { flow: '@branch.true', message: 'No more than one.', field: 'more' },
    },
  })
})
afterAll(() => fixture?.close())

const assets = async () => objectsOf(await fixture.manage('POST', '/_system/assets/search', {}))
const file = (name: string, text = '<script>alert(1)</script>', type = 'text/html') =>
  new File([text], name, { type })

function filesOfForm(): void {
  test.each([
    ['no file', { title: 'A' }, 422],
    ['a form that does not fit', { title: '', scan: file('a.html') }, 422],
    ['a token that is none', { title: 'A', scan: file('a.html'), _csrf: 'x' }, 422],
    ['a flow that refuses', { title: 'A', scan: file('a.html'), more: file('b.html') }, 422],
  ])('%s leaves no file behind', async (_what, values, status) => {
    const visitor = openVisitor(origin)
    const sent = await visitor.submit(await visitor.get('/letters'), 'add', values)
    expect(sent.status).toBe(status)
    expect(await assets()).toEqual([])
    expect(await fixture.documents('letters')).toEqual([])
  })

  test('a file is stored once, and can be had only by an address that a page gave', async () => {
    const visitor = openVisitor(origin)
    const page = await visitor.get('/letters')
    const send = () => visitor.submit(page, 'add', { title: 'A', scan: file('../../x"y.html') })
    expect([(await send()).status, (await send()).status]).toEqual([303, 303])
    const [letter, ...others] = await fixture.documents('letters')
    expect(others).toEqual([])
    const stored = await assets()
    expect(stored).toHaveLength(1)
    expect(letter?.scan).toMatchObject({ name: 'x%22y.html', size: 25 })
    expect(stored[0]).toMatchObject({ public_path: null })
    // Nothing holds it any more: the sweep would delete it a day later.
    expect(await fixture.documents('_asset_files')).toEqual([])

    const shown = await visitor.get('/letters')
    const address = shown.link('x%22y.html')
    const got = await openVisitor(origin).get(address)
    expect([got.status, got.html]).toEqual([200, '<script>alert(1)</script>'])
    expect(got.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(got.headers.get('content-security-policy')).toContain('sandbox')
    const guid = isJsonObject(letter?.scan) ? String(letter.scan.guid) : ''
    for (const other of [
      `/_pages/files/${guid}`,
      address.replace(/.$/, '!'),
      address.replace(/files\/[^/]+/, 'files/01890000-0000-7000-8000-000000000000'),
      address.replace(/\/(\d+)\//, (_whole, day: string) => `/${Number(day) + 1}/`),
    ])
      expect((await visitor.get(other)).status).toBe(404)
  })

  test('a document gives an address only of its own files, and not of any whose guid was put into it', async () => {
    const [letter] = await fixture.documents('letters')
    const own = isJsonObject(letter?.scan) ? String(letter.scan.guid) : ''
    const authorization = `Bearer ${await fixture.tokenOf('admin')}`
    const made = async (directory: string, name: string) => {
      const body = new FormData()
      body.append('directory', directory)
      body.append('file', file(name, name, 'text/plain'))
      const address = `${origin}/api/v1/_system/assets/stream`
      return guidOf(await (await fetch(address, { method: 'POST', headers: { authorization }, body })).json())
    }
    const hidden = await made('hr_private', 'salaries.txt')
    const open = await made('public', 'open.txt')
    const links = async (guid: string, name: string) => {
      const sent = { title: name, scan: { guid, name, href: '/_pages/files/x/1/y' } }
      const document = (await fixture.send('POST', '/letters', { body: sent })).body
      const visitor = openVisitor(origin)
      const seen = await Promise.all([visitor.get('/letters'), visitor.get(`/letters/${guidOf(document)}`)])
      expect(seen.map(({ text }) => text.includes(name))).toEqual([true, true])
      return seen.map(({ html }) => html.split(`/_pages/files/${guid}/`).length - 1)
    }
    expect(await links(hidden, 'salaries.txt')).toEqual([0, 0])
    // The letter that was sent with the file shows it; the one that names it does not.
    expect(await links(own, 'stolen.txt')).toEqual([1, 0])
    expect(await links(open, 'open.txt')).toEqual([1, 1])
    expect((await openVisitor(origin).get('/letters')).html).not.toContain('/_pages/files/x/1/y')
    const page = await openVisitor(origin).get(`/letters/${guidOf(letter ?? null)}`)
    expect((await openVisitor(origin).get(page.link('x%22y.html'))).status).toBe(200)
  })

  test.each([
    [true, /\?height=128$/],
    [false, /\/[\w-]+$/],
  ])('images of documents where they can be resized: %s', async (canResize, address) => {
    const { database } = fixture.quoin
    const secret = await openSigningSecret(database, (bytes) => void randomFillSync(bytes))
    const [stored] = await assets()
    const value = { guid: guidOf(stored ?? null), name: 'a.png', type: 'image/png', size: 9 }
    const [letter] = await fixture.documents('letters')
    const detail: PageNode = {
      kind: 'detail',
      document: guidOf(letter ?? null),
      items: [{ label: 'More', value, format: 'image' }],
    }
    const sign = { secret, now: Date.now(), assets: { resizes: async () => canResize } }
    const shown = (await fileAddresses(database.session(), [detail], sign))(detail)
    const [item] = shown.kind === 'detail' ? shown.items : []
    expect(objectOf(item?.value ?? null).href).toMatch(address)
  })

  test('an image of a document is shown in a small size; what cannot be resized is shown as it is', async () => {
    const png = await sharp({ create: { width: 400, height: 300, channels: 3, background: '#ff0000' } })
      .png()
      .toBuffer()
    const send = async (title: string, content: Buffer | string, type: string) => {
      const body = new FormData()
      body.append('title', title)
      for (const field of ['scan', 'more'])
        body.append(field, new File([new Uint8Array(Buffer.from(content))], `${title}.x`, { type }))
      const reply = await fetch(`${origin}/api/v1/files`, { method: 'POST', body })
      expect(reply.status).toBe(201)
      return guidOf(objectOf(await reply.json()))
    }
    const guid = await send('photo', png, 'image/png')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    const drawing = await send('drawing', svg, 'image/svg+xml')
    const visitor = openVisitor(origin)
    const sources = async (path: string) =>
      [...(await visitor.get(path)).html.matchAll(/class="thumb" src="([^"]+)"/g)].map(([, src]) => src ?? '')
    const inTable = await sources('/letters')
    expect(inTable.map((src) => src.split('?')[1])).toEqual([undefined, 'height=128'])
    expect((await sources(`/letters/${drawing}`)).map((src) => src.split('?')[1])).toEqual([undefined])
    const [src = ''] = await sources(`/letters/${guid}`)
    const small = await fetch(origin + src)
    const { width, height } = await sharp(Buffer.from(await small.arrayBuffer())).metadata()
    expect([small.status, width, height]).toEqual([200, 171, 128])
    // What is offered as a file is the whole of it.
    expect((await visitor.get(`/letters/${guid}`)).link('photo.x')).not.toContain('?')
  })
}

async function saysThatThereIsNoPlace(): Promise<void> {
  const visitor = openVisitor(origin)
  const sent = await visitor.submit(await visitor.get('/letters'), 'add', {
    title: 'A',
    scan: file('a.html'),
  })
  expect([sent.status, sent.text.includes('Not available right now')]).toEqual([503, true])
  expect(await fixture.documents('letters')).toEqual([])
}

describe('the text of a multipart form', () => {
  const mebibyte = 1024 * 1024
  const texts = (count: number, length: number) => Array.from({ length: count }, () => 'x'.repeat(length))

  // The title is empty, so a form that is read whole is refused by its field, and nothing is stored.
  test.each<[string, readonly string[], number, string]>([
    ['17 fields of a mebibyte', texts(17, mebibyte - 1), 400, 'too much text'],
    ['a field over a mebibyte', texts(1, mebibyte + 1), 400, 'too long'],
    ['over 2,000 fields', texts(2_001, 1), 400, 'not valid multipart/form-data'],
    ['15 fields of a mebibyte', texts(15, mebibyte - 1), 422, 'Title'],
  ])('is bounded: %s', async (_what, more, status, words) => {
    const visitor = openVisitor(origin)
    const sent = await visitor.submit(await visitor.get('/letters'), 'add', { title: '', other: more })
    expect([sent.status, sent.text]).toEqual([status, expect.stringContaining(words)])
  })

  // Anonymous clients can send these, so they hold the least.
  test.each<[string, readonly string[], number]>([
    ['5 fields of 4 KiB', texts(5, 4 * 1024 - 1), 400],
    ['a field over 4 KiB', texts(1, 4 * 1024 + 1), 400],
    ['over 50 fields', texts(51, 1), 400],
  ])('of the sign-in page is bounded more tightly: %s', async (_what, more, status) => {
    const body = new FormData()
    for (const text of more) body.append('username', text)
    const headers = { origin, accept: 'text/html' }
    expect((await fetch(`${origin}/login`, { method: 'POST', body, headers })).status).toBe(status)
  })
})

// A cluster keeps no files on the disk of one node; assets-in-s3.test.ts shows it with a bucket.
if (inject('engine') === 'sqlite') describe('files of a form', filesOfForm)
else test('a cluster without a place for files says so, on a page', saysThatThereIsNoPlace)
