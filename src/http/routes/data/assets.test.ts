import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentServer, formWith, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import { matchAll } from '../../../shared/query.ts'

const nobody = '01900000-0000-7000-8000-000000000000'
const limit = 100_000
let fixture: DocumentServer

beforeAll(async () => {
  fixture = await openDocumentServer({ upload: limit })
  await fixture.addUser('viewer', ['assets_view'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const png = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63f8ffff3f0300050001ff8c4e1f3a0000000049454e44ae426082',
  'hex',
)
const text = (content: string | Buffer, name = 'note.txt', type = 'text/plain') => ({ name, type, content })
const upload = (form: { raw: Buffer; type: string }, query = '', as = 'admin') =>
  fixture.send('POST', `/_system/assets/stream${query}`, as, form)

/** Every file below the directory of assets, by its name. */
async function filesOnDisk(): Promise<string[]> {
  const entries = await readdir(join(fixture.directory, 'assets'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

const state = async () => [
  await filesOnDisk(),
  await fixture.database.session().count('_assets', matchAll, true),
]
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

describe('assets', () => {
  it.each([
    ['POST', '/_system/assets/stream', 'assets_create'],
    ['POST', '/_system/assets/search', 'assets_view'],
    ['GET', `/_system/assets/${nobody}`, 'assets_view'],
    ['GET', `/_system/assets/${nobody}/content`, 'assets_view'],
    ['DELETE', `/_system/assets/${nobody}`, 'assets_remove'],
  ] as const)('%s %s is for those who hold %s', async (method, path, scope) => {
    const sent = path.endsWith('stream') ? formWith(text('x')) : {}
    expect((await fixture.send(method, path, '', sent)).status).toBe(401)
    const refused = await fixture.send(method, path, 'nobody', sent)
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([403, expect.stringContaining(scope)])
    if (path.includes(nobody)) expect((await fixture.send(method, path, 'admin')).status).toBe(404)
  })

  const names = [
    ['..', 'filename'],
    ['a/b.txt', 'filename'],
    ['a\\b.txt', 'filename'],
    ['a\u202etxt.exe', 'filename'],
    ['a\u0007', 'filename'],
    ['é'.repeat(128), 'filename'],
    ['', 'filename'],
    ['public/../x', 'directory'],
    ['/etc', 'directory'],
    ['public//x', 'directory'],
  ] as const
  it.each(names)('the name or directory %j is refused', async (value, field) => {
    const before = await state()
    for (const fields of [{ [field]: value }]) {
      const reply = await upload(formWith(text('x'), fields))
      expect([reply.status, jsonAt(reply.body, 'error'), jsonAt(reply.body, 'fields')]).toEqual([
        400,
        'INVALID_BODY',
        [field],
      ])
    }
    const query = `?${field}=${encodeURIComponent(value)}`
    expect((await upload(formWith(text('x')), query)).status).toBe(400)
    expect(await state()).toEqual(before)
  })

  it('what is no form with one file is refused and leaves nothing', async () => {
    const before = await state()
    const { type, raw } = formWith(text('x'.repeat(1_000)))
    // Without the closing boundary the second form goes on where the first ends.
    const first = formWith(text('first')).raw
    const two = Buffer.concat([first.subarray(0, first.lastIndexOf('--form')), formWith(text('second')).raw])
    const forms: readonly [string, { raw: Buffer | string; type: string }, number][] = [
      ['a body without a name', { raw: '{}', type: 'application/json' }, 400],
      ['no boundary', { raw, type: 'multipart/form-data' }, 400],
      ['no file', formWith(undefined, { filename: 'x' }), 400],
      ['two files', { raw: two, type }, 400],
      ['an end that is missing', { raw: raw.subarray(0, 600), type }, 400],
      ['nothing', { raw: Buffer.alloc(0), type }, 400],
    ]
    for (const [what, form, status] of forms) {
      const reply = await fixture.send('POST', '/_system/assets/stream', 'admin', form)
      expect([what, reply.status]).toEqual([what, status])
    }
    expect(await state()).toEqual(before)
  })

  it('more than the limit is 413 and leaves nothing; the limit itself is fine', async () => {
    const before = await state()
    for (const size of [limit + 1, limit + 500_000, limit + 3_000_000]) {
      const reply = await upload(formWith(text(Buffer.alloc(size, size))))
      expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([413, 'FILE_TOO_BIG'])
      expect(await state()).toEqual(before)
    }
    const fits = await upload(formWith(text(Buffer.alloc(limit, 1))))
    expect(fits.body).toMatchObject({ size: limit })
    await fixture.send('DELETE', `/_system/assets/${textAt(fits.body, 'assets_guid')}`, 'admin')
    expect(await state()).toEqual(before)
  })

  it.each([
    ['?filename=a.bin&path=../x', 'directory'],
    ['?filename=a.bin&path=', undefined],
    ['?filename=a%2Fb.bin', 'filename'],
  ])('a body that is the file, at %s, keeps to the same rules', async (query, field) => {
    const before = await state()
    const reply = await upload({ raw: Buffer.from('bytes'), type: 'application/octet-stream' }, query)
    if (field === undefined) {
      expect(reply.body).toMatchObject({ name: 'a.bin', directory: 'system_assets', size: 5 })
      await fixture.send('DELETE', `/_system/assets/${textAt(reply.body, 'assets_guid')}`, 'admin')
    } else expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, [field]])
    expect(await state()).toEqual(before)
  })

  it('a body that is the file is stored in the folder of its path, and past the limit leaves nothing', async () => {
    const before = await state()
    const type = 'application/json'
    for (const size of [limit + 1, limit + 3_000_000]) {
      const reply = await upload({ raw: Buffer.alloc(size, 1), type }, '?filename=big.json')
      expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([413, 'FILE_TOO_BIG'])
    }
    expect(await state()).toEqual(before)
    const query = '?filename=a%20b.json&directory=public&path=images%2F2026&action=x&filesize=9'
    const stored = await upload({ raw: Buffer.from('{"a":1}'), type }, query)
    expect(stored.body).toMatchObject({
      name: 'a b.json',
      type,
      size: 7,
      sha256: sha256('{"a":1}'),
      public_path: 'blueprints/images/2026/a b.json',
    })
    await fixture.send('DELETE', `/_system/assets/${textAt(stored.body, 'assets_guid')}`, 'admin')
  })

  it('an upload that is cut in the middle leaves nothing', async () => {
    const before = await state()
    const address = new URL(await fixture.server.listen())
    const { authorization } = await fixture.as('admin')
    const { raw, type } = formWith(text(Buffer.alloc(50_000, 2)))
    const socket = connect(Number(address.port), address.hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      `POST /api/v1/_system/assets/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        `content-type: ${type}\r\ncontent-length: ${raw.length}\r\n\r\n`,
    )
    socket.write(raw.subarray(0, 30_000))
    await expect.poll(async () => (await filesOnDisk()).length).toBe(filesIn(before) + 1)
    socket.destroy()
    await closed
    await expect.poll(state).toEqual(before)
  })

  it('is stored, found, read and deleted; the same content is one file', async () => {
    const before = await state()
    const one = await upload(formWith(text('hello', 'C:\\docs\\Grüße.txt'), { directory: 'letters' }))
    expect(one.status, one.text).toBe(200)
    expect(one.body).toMatchObject({
      name: 'Grüße.txt',
      type: 'text/plain',
      size: 5,
      sha256: sha256('hello'),
      directory: 'letters',
      public_path: null,
      created_by: { username: 'admin' },
    })
    const guid = textAt(one.body, 'assets_guid')
    expect(guid).toBe(textAt(one.body, '_meta', 'guid'))
    const two = await upload(formWith(text('hello', 'other.txt')), '?filename=named.txt')
    expect(two.body).toMatchObject({
      name: 'named.txt',
      directory: 'system_assets',
      sha256: jsonAt(one.body, 'sha256'),
    })
    expect((await filesOnDisk()).length).toBe(filesIn(before) + 1)

    expect((await fixture.send('GET', `/_system/assets/${guid}`, 'viewer')).body).toEqual(one.body)
    const find = (body: object) =>
      fixture.send('POST', '/_system/assets/search', 'viewer', { body: { ...body } })
    expect((await find({ query: 'grusse', filters: { directory: 'letters' } })).body).toEqual([one.body])
    expect((await find({ query: 'grusse', filters: { directory: 'public' } })).body).toEqual([])
    expect((await find({ filters: { sha256: jsonAt(one.body, 'sha256') }, count: true })).body).toEqual({
      count: 2,
    })
    expect(jsonAt((await find({ filters: { path: 'x' } })).body, 'error')).toBe('INVALID_QUERY')

    const read = await fixture.send('GET', `/_system/assets/${guid}/content`, 'viewer')
    expect(read.text).toBe('hello')
    expect(read.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '5',
      'content-disposition': `inline; filename="Gr__e.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt`,
      'cache-control': 'private, no-cache',
    })
    expect((await fixture.send('DELETE', `/_system/assets/${guid}`, 'admin')).body).toEqual({
      guid,
      removed: true,
    })
    expect((await fixture.send('GET', `/_system/assets/${guid}/content`, 'viewer')).status).toBe(404)
    const still = await fixture.send(
      'GET',
      `/_system/assets/${textAt(two.body, 'assets_guid')}/content`,
      'viewer',
    )
    expect(still.text).toBe('hello')
    await fixture.send('DELETE', `/_system/assets/${textAt(two.body, 'assets_guid')}`, 'admin')
    expect(await state()).toEqual(before)
  })

  it('uploads and deletions of one content at once never lose a file', async () => {
    const guids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const made = await upload(formWith(text('same')))
        return textAt(made.body, 'assets_guid')
      }),
    )
    await Promise.all([
      ...guids.slice(1).map((guid) => fixture.send('DELETE', `/_system/assets/${guid}`, 'admin')),
      upload(formWith(text('same', 'last.txt'))),
    ])
    expect((await fixture.send('GET', `/_system/assets/${guids[0]}/content`, 'viewer')).text).toBe('same')
  })

  it.each([
    ['a picture by its bytes', text(png, 'x.txt', 'text/html'), 'image/png'],
    ['text by what is said', text('a,b', 'x.csv', 'text/csv; charset=utf-8'), 'text/csv'],
    ['nonsense as bytes', text('x', 'x', 'a b/c\u00e9'), 'application/octet-stream'],
  ])('the type: %s', async (_what, file, type) => {
    expect(jsonAt((await upload(formWith(file))).body, 'type')).toBe(type)
  })
})

function filesIn([files]: unknown[]): number {
  return Array.isArray(files) ? files.length : 0
}
