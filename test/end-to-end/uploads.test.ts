/**
 * Uploads that must leave nothing, with the real limit. A cluster without a bucket takes no files, so this is about the
 * disk; what a bucket keeps is in src/storage/assets/asset-bucket.test.ts.
 */
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formWith } from '../document-server.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const MEBIBYTE = 1024 * 1024
const form = formWith({ name: 'zeros.bin', type: 'application/octet-stream', content: '|' })
const contentAt = form.raw.indexOf('\r\n\r\n|\r\n') + 4

let fixture: TestQuoin
let base: string
let authorization: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  base = await fixture.quoin.server.listen()
  authorization = `Bearer ${await fixture.tokenOf('admin')}`
})
afterAll(() => fixture.close())

const files = async () => {
  const entries = await readdir(join(fixture.directory, 'assets'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}
const records = () => fixture.manage('POST', '/_system/assets/search', { count: true })

/** A form with a file of so many bytes, made while it is sent. */
async function* zeros(size: number): AsyncGenerator<Uint8Array> {
  yield form.raw.subarray(0, contentAt)
  const chunk = new Uint8Array(MEBIBYTE)
  for (let left = size; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
  yield form.raw.subarray(contentAt + 1)
}

/** Does not say beforehand how much it is. What is refused may be refused before all of it was sent. */
async function upload(size: number) {
  const sent = request(`${base}/api/v1/_system/assets/stream`, {
    method: 'POST',
    headers: { authorization, 'content-type': form.type, 'transfer-encoding': 'chunked' },
  })
  const answered = once(sent, 'response')
  const [[reply]]: [IncomingMessage[], unknown] = await Promise.all([
    answered,
    pipeline(zeros(size), sent).catch((error) => expect(error.code).toMatch(/EPIPE|ECONNRESET|PREMATURE/)),
  ])
  if (reply === undefined) throw new Error('There is no reply.')
  return { status: reply.statusCode, body: objectOf(JSON.parse(await text(reply))) }
}

describe('on disk', () => {
  test('501 MB are 413 and leave no file', { timeout: 60_000 }, async () => {
    const { status, body } = await upload(501 * MEBIBYTE)
    expect([status, body.error, body.code]).toEqual([413, 'FILE_TOO_BIG', 413])
    expect(body.message).toContain(String(500 * MEBIBYTE))
    expect([await files(), await records()]).toEqual([[], { count: 0 }])
  })

  test('one that is cut in the middle leaves no file and no record', async () => {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      `POST /api/v1/_system/assets/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        `content-type: ${form.type}\r\ncontent-length: ${20 * MEBIBYTE}\r\n\r\n`,
    )
    socket.write(form.raw.subarray(0, contentAt))
    socket.write(new Uint8Array(10 * MEBIBYTE))
    await expect.poll(async () => (await files()).length, { interval: 5 }).toBe(1)
    socket.destroy()
    await closed
    await expect.poll(files).toEqual([])
    expect(await records()).toEqual({ count: 0 })
  })

  test('control: one that is whole is a file and a record', async () => {
    const { status, body } = await upload(3 * MEBIBYTE)
    expect([status, body.size]).toEqual([200, 3 * MEBIBYTE])
    expect([(await files()).length, await records()]).toEqual([1, { count: 1 }])
    await fixture.manage('DELETE', `/_system/assets/${guidOf(body)}`)
    expect([await files(), await records()]).toEqual([[], { count: 0 }])
  })
})
