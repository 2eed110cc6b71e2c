import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentServer, formWith, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, textAt } from '../../../../test/json-at.ts'

let fixture: DocumentServer
const digits = '0123456789'

beforeAll(async () => {
  fixture = await openDocumentServer()
  await upload('digits.txt', 'public/numbers', digits)
  await upload('private.txt', 'letters', 'secret')
  await upload('publication.txt', 'publicity', 'secret')
  await upload('empty.txt', 'public', '')
})
afterAll(() => fixture.close())

async function upload(name: string, directory: string, content: string, type = 'text/plain') {
  const made = await fixture.send(
    'POST',
    '/_system/assets/stream',
    'admin',
    formWith({ name, type, content }, { directory }),
  )
  return made
}

const get = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  fixture.send(method, `/static/${path}`, '', { headers })

describe('public files', () => {
  it.each([
    'private.txt',
    'letters/private.txt',
    '../letters/private.txt',
    '..%2fletters%2fprivate.txt',
    '%2e%2e/%2e%2e/quoin.db',
    'publication.txt',
    'numbers',
    'numbers/',
    'numbers//digits.txt',
    'NUMBERS/digits.txt',
    '',
  ])('%j is not there', async (path) => {
    const reply = await get(path)
    expect([reply.status, reply.text.includes('secret')]).toEqual([404, false])
  })

  it('a path is taken once, and free again when its asset is deleted', async () => {
    const again = await upload('digits.txt', 'public/numbers', 'x')
    expect([again.status, jsonAt(again.body, 'error')]).toEqual([409, 'CONFLICT'])
    expect((await get('numbers/digits.txt')).text).toBe(digits)
    const made = await upload('once.txt', 'public', 'first')
    await fixture.send('DELETE', `/_system/assets/${textAt(made.body, 'assets_guid')}`, 'admin')
    expect((await get('once.txt')).status).toBe(404)
    await upload('once.txt', 'public', 'second')
    expect((await get('once.txt')).text).toBe('second')
  })

  it('is sent whole, with its tag, and not again to who has it', async () => {
    const whole = await get('numbers/digits.txt')
    expect([whole.status, whole.text]).toEqual([200, digits])
    expect(whole.headers).toMatchObject({
      'content-length': '10',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, no-cache',
    })
    const etag = String(whole.headers.etag)
    for (const known of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
      const reply = await get('numbers/digits.txt', { 'if-none-match': known })
      expect([reply.status, reply.text, reply.headers['content-length']]).toEqual([304, '', undefined])
    }
    expect((await get('numbers/digits.txt', { 'if-none-match': '"x"' })).status).toBe(200)
    const head = await get('numbers/digits.txt', {}, 'HEAD')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '10'])
    expect((await get('empty.txt')).text).toBe('')
  })

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, digits, 'bytes 0-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=5-2', 200, digits, undefined],
    ['bytes=0-1,3-4', 200, digits, undefined],
    ['bytes=x-y', 200, digits, undefined],
    ['lines=1-2', 200, digits, undefined],
    ['bytes=-', 200, digits, undefined],
  ])('range %s is %d', async (range, status, text, part) => {
    const reply = await get('numbers/digits.txt', { range })
    expect([reply.status, reply.text, reply.headers['content-range']]).toEqual([status, text, part])
    expect(reply.headers['content-length']).toBe(String(text.length))
  })

  it('a range of what has changed is the whole', async () => {
    const { headers } = await get('numbers/digits.txt')
    const range = 'bytes=0-3'
    const same = await get('numbers/digits.txt', { range, 'if-range': String(headers.etag) })
    const other = await get('numbers/digits.txt', { range, 'if-range': '"other"' })
    expect([same.status, other.status]).toEqual([206, 200])
    expect((await get('empty.txt', { range })).status).toBe(416)
  })

  it.each([
    ['page.html', 'text/html', '<script>alert(1)</script>', 'attachment'],
    ['page.xhtml', 'application/xhtml+xml', '<html/>', 'attachment'],
    ['picture.svg', 'image/svg+xml', '<svg onload="alert(1)"/>', 'attachment'],
    ['feed.xml', 'text/xml', '<x/>', 'attachment'],
    ['code.js', 'text/javascript', 'alert(1)', 'attachment'],
    ['paper.pdf', 'application/pdf', '%PDF-1.4', 'attachment'],
    ['what', 'x/unknown', 'x', 'attachment'],
    ['style.css', 'text/css', 'a{}', 'inline'],
    ['data.json', 'application/json', '{}', 'inline'],
    ['fake.png', 'image/png', '<script>alert(1)</script>', 'inline'],
  ])('%s of the type %s is shown or saved as it should be', async (name, type, content, kind) => {
    expect((await upload(name, 'public/types', content, type)).status).toBe(200)
    const { headers } = await get(`types/${name}`)
    expect(String(headers['content-disposition'])).toMatch(new RegExp(`^${kind}; filename="${name}"`))
    expect(headers['content-security-policy']).toContain('sandbox')
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  it('a name cannot write headers', async () => {
    // Quotes in the form's own header would end the name there.
    const form = formWith(
      { name: 'x', type: 'text/plain', content: 'x' },
      { directory: 'public', filename: 'a"; x="b.txt' },
    )
    expect((await fixture.send('POST', '/_system/assets/stream', 'admin', form)).status).toBe(200)
    const { headers } = await get(encodeURIComponent('a"; x="b.txt'))
    expect(headers['content-disposition']).toBe(
      `inline; filename="a_; x=_b.txt"; filename*=UTF-8''a%22%3B%20x%3D%22b.txt`,
    )
  })
})
