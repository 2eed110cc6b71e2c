import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../../test/temporary-server.ts'
import { studioFileRoutes } from './studio-files.ts'

const script = 'console.log("studio")'
let directory: string
let server: TemporaryServer
let unbuilt: TemporaryServer

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-studio-'))
  const built = join(directory, 'studio')
  await mkdir(join(built, 'assets'), { recursive: true })
  await writeFile(join(directory, 'secret.js'), 'secret')
  await writeFile(join(built, 'secret.js'), 'secret')
  await writeFile(join(built, 'index.html'), '<meta nonce="studio-nonce"><script nonce="studio-nonce">')
  await writeFile(join(built, 'assets', 'main-abc.js'), script)
  await writeFile(join(built, 'assets', 'main-abc.js.br'), brotliCompressSync(script))
  await writeFile(join(built, 'assets', 'main-abc.js.gz'), gzipSync(script))
  await writeFile(join(built, 'assets', 'plain.css'), 'a{}')
  server = await openTemporaryServer({ root: [studioFileRoutes(built)] })
  unbuilt = await openTemporaryServer({ root: [studioFileRoutes(join(directory, 'nowhere'))] })
})
afterAll(async () => {
  await server.close()
  await unbuilt.close()
  await rm(directory, { recursive: true })
})

const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers })

describe('a file of the studio', () => {
  it.each([
    '/studio/assets/none.js',
    '/studio/assets/..%2fsecret.js',
    '/studio/assets/..%2f..%2fsecret.js',
    '/studio/assets/%2e%2e%5csecret.js',
    '/studio/assets/.hidden.js',
    '/studio/assets/main-abc.js.br',
    '/studio/assets/main-abc',
  ])('%s is not found, and is not kept', async (url) => {
    const reply = await get(url)
    expect(reply.statusCode).toBe(404)
    expect(reply.body).not.toContain('secret')
    expect(reply.headers['cache-control']).not.toContain('immutable')
  })

  it.each([
    ['br, gzip', 'br', brotliCompressSync(script)],
    ['gzip, br;q=0', 'gzip', gzipSync(script)],
    ['identity', undefined, Buffer.from(script)],
  ])('for %s comes as %s', async (accepted, encoding, bytes) => {
    const reply = await get('/studio/assets/main-abc.js', { 'accept-encoding': accepted })
    expect(reply.statusCode).toBe(200)
    expect(reply.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
    expect(reply.headers['content-encoding']).toBe(encoding)
    expect(reply.rawPayload.equals(bytes)).toBe(true)
  })

  it('that is not compressed comes as it is', async () => {
    const reply = await get('/studio/assets/plain.css', { 'accept-encoding': 'br' })
    expect(reply.headers['content-encoding']).toBeUndefined()
    expect(reply.body).toBe('a{}')
  })
})

describe('the page of the studio', () => {
  it.each(['/studio', '/studio/', '/studio/blueprints/0199', '/studio/data?query=a'])(
    'answers at %s',
    async (url) => {
      const reply = await get(url)
      expect(reply.statusCode).toBe(200)
      expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(reply.headers['cache-control']).toBe('no-store')
    },
  )

  it('allows scripts of ours alone, and style tags that carry the nonce of this reply', async () => {
    const [one, other] = [await get('/studio'), await get('/studio')]
    const policy = String(one.headers['content-security-policy'])
    const [, nonce = ''] = /style-src 'self' 'nonce-([^']+)'/.exec(policy) ?? []
    expect(nonce.length).toBeGreaterThan(20)
    expect(policy).toContain("script-src 'self';")
    expect(one.body).toBe(`<meta nonce="${nonce}"><script nonce="${nonce}">`)
    expect(other.body).not.toContain(nonce)
  })

  it('says what to run when the studio is not built', async () => {
    const reply = await unbuilt.app.inject({ url: '/studio/blueprints' })
    expect(reply.statusCode).toBe(503)
    expect(reply.body).toContain('node scripts/build-studio.mjs')
    expect((await unbuilt.app.inject({ url: '/studio/assets/main-abc.js' })).statusCode).toBe(404)
  })
})
