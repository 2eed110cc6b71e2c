/** A whole server whose files are in a real S3 server, over HTTP: what a cluster does with uploads. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stubCredentials } from '../asset-place.ts'
import { formWith } from '../document-server.ts'
import { type FailingS3Server, openBucket, openS3Server, type TestBucket } from '../s3-server.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const MIB = 1024 * 1024

describe('a server with its assets in S3', () => {
  let server: FailingS3Server
  let bucket: TestBucket
  let fixture: TestQuoin
  let base: string
  let authorization: string

  beforeAll(async () => {
    server = await openS3Server()
    bucket = await openBucket(server, 'files')
    stubCredentials(server)
    const url = `s3://files/quoin?endpoint=${encodeURIComponent(server.endpoint)}`
    fixture = await openTestQuoin({ QUOIN_ASSETS_URL: url })
    base = await fixture.quoin.server.listen()
    authorization = `Bearer ${await fixture.tokenOf('admin')}`
  }, 60_000)
  afterAll(async () => {
    await fixture?.close()
    bucket?.close()
    await server?.close()
    vi.unstubAllEnvs()
  })

  const stored = () => bucket.keys()

  async function upload(name: string, content: Buffer, directory = 'public') {
    const form = formWith({ name, type: 'text/plain', content }, { directory })
    const reply = await fetch(`${base}/api/v1/_system/assets/stream`, {
      method: 'POST',
      headers: { authorization, 'content-type': form.type },
      body: new Uint8Array(form.raw),
    })
    return { status: reply.status, body: objectOf(await reply.json()) }
  }

  test('an upload without the scope is refused, and nothing is stored', async () => {
    const form = formWith({ name: 'a.txt', type: 'text/plain', content: 'a' })
    const reply = await fetch(`${base}/api/v1/_system/assets/stream`, {
      method: 'POST',
      headers: { 'content-type': form.type },
      body: new Uint8Array(form.raw),
    })
    expect([reply.status, await stored()]).toEqual([401, []])
  })

  test('a file is uploaded, served whole and in part, not changed, and deleted', {
    timeout: 60_000,
  }, async () => {
    // Three parts of a multipart upload.
    const content = Buffer.alloc(11 * MIB, 'quoin and other stones ')
    const sha256 = createHash('sha256').update(content).digest('hex')
    const { status, body } = await upload('stones.txt', content)
    expect([status, body.size, body.sha256]).toEqual([200, content.length, sha256])
    const [key, ...others] = await stored()
    expect(others).toEqual([])
    expect(key).toContain(`quoin/${sha256.slice(0, 2)}/${sha256}.`)

    const whole = await fetch(`${base}/static/stones.txt`)
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect([whole.status, createHash('sha256').update(bytes).digest('hex')]).toEqual([200, sha256])
    const etag = whole.headers.get('etag') ?? ''
    const same = await fetch(`${base}/static/stones.txt`, { headers: { 'if-none-match': etag } })
    expect([same.status, await same.text()]).toEqual([304, ''])
    const range = { range: `bytes=${5 * MIB - 2}-${5 * MIB + 2}` }
    const part = await fetch(`${base}/static/stones.txt`, { headers: range })
    expect([part.status, await part.text()]).toEqual([
      206,
      content.subarray(5 * MIB - 2, 5 * MIB + 3).toString(),
    ])

    await fixture.manage('DELETE', `/_system/assets/${guidOf(body)}`)
    expect((await fetch(`${base}/static/stones.txt`)).status).toBe(404)
    expect(await stored()).toEqual([])
  })

  test('a bucket that fails twice is asked again for people, who have no attempts to set', async () => {
    server.failNext(2)
    const { status, body } = await upload('again.txt', Buffer.from('again'))
    expect(status).toBe(200)
    server.failNext(2)
    expect(await (await fetch(`${base}/static/again.txt`)).text()).toBe('again')
    await fixture.manage('DELETE', `/_system/assets/${guidOf(body)}`)
    expect(await stored()).toEqual([])
  })

  test('what is refused leaves nothing in the bucket', async () => {
    const first = await upload('taken.txt', Buffer.from('first'))
    const second = await upload('taken.txt', Buffer.from('second'))
    expect([second.status, second.body.error]).toEqual([409, 'CONFLICT'])
    expect(await stored()).toHaveLength(1)
    expect(await (await fetch(`${base}/static/taken.txt`)).text()).toBe('first')
    // The same content again is an object of its own, and goes alone.
    const again = await upload('again.txt', Buffer.from('first'), 'private')
    expect(await stored()).toHaveLength(2)
    expect((await fetch(`${base}/static/again.txt`)).status).toBe(404)
    await fixture.manage('DELETE', `/_system/assets/${guidOf(again.body)}`)
    expect(await (await fetch(`${base}/static/taken.txt`)).text()).toBe('first')
    await fixture.manage('DELETE', `/_system/assets/${guidOf(first.body)}`)
    expect(await stored()).toEqual([])
  })
})
