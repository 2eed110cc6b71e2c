/** Uploads, and what they may weigh: on the disk, and on PostgreSQL in a bucket. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { formWith } from '../../document-server.ts'
import { guidOf, objectOf } from '../../end-to-end/harness.ts'
import { found, guarded } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

const streamPath = '/_system/assets/stream'

async function upload(room: ContractRoom, content: string, fields = {}, as = 'admin') {
  const { raw, type } = formWith({ name: 'note.txt', type: 'text/plain', content }, fields)
  const headers = { authorization: `Bearer ${await room.tokenOf(as)}`, 'content-type': type }
  const url = `/api/v1${streamPath}`
  const { statusCode, body } = await room.quoin.server.app.inject({
    method: 'POST',
    url,
    headers,
    payload: raw,
  })
  return { status: statusCode, body: objectOf(JSON.parse(body)) }
}

const contentOf = async (room: ContractRoom, guid: string) => {
  const headers = { authorization: `Bearer ${await room.tokenOf('admin')}` }
  const reply = await fetch(`${room.address}/api/v1/_system/assets/${guid}/content`, { headers })
  return reply.status === 200 ? reply.text() : reply.status
}

const uploads: Scenario = async (room) => {
  const refused = await upload(room, 'x', {}, 'stranger')
  expect(refused).toMatchObject({ status: 403, body: { error: 'INSUFFICIENT_PERMISSIONS' } })
  const content = room.name()
  const { status, body } = await upload(room, content, { filename: 'letter.txt', directory: 'letters' })
  expect([status, body]).toMatchObject([
    200,
    { name: 'letter.txt', type: 'text/plain', size: content.length, directory: 'letters' },
  ])
  expect(await contentOf(room, guidOf(body))).toBe(content)
}

/** Any other body is the file itself, and needs a name in the query. */
const isMultipart: Scenario = async (room) => {
  for (const body of [{ file: 'x' }, undefined]) {
    const sent = { as: 'admin', ...(body && { body }) }
    const answer = await room.send('POST', streamPath, sent)
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_BODY' } })
  }
  expect((await upload(room, room.name())).status).toBe(200)
}

const searchesAssets: Scenario = async (room) => {
  const path = '/_system/assets/search'
  await guarded(room, 'POST', path, 'assets_view')
  const directory = room.name()
  const { body } = await upload(room, directory, { directory })
  expect(await found(room, path, { filters: { directory } })).toEqual([body])
  expect(await found(room, path, { filters: { directory, type: 'image/png' } })).toEqual([])
}

const deletesAsset: Scenario = async (room) => {
  const { body } = await upload(room, room.name())
  const path = `/_system/assets/${guidOf(body)}`
  await guarded(room, 'DELETE', path, 'assets_remove')
  expect(await contentOf(room, guidOf(body))).not.toBe(404)
  expect(await room.manage('DELETE', path)).toEqual({ guid: guidOf(body), removed: true })
  expect(await contentOf(room, guidOf(body))).toBe(404)
  expect(await room.send('DELETE', path, { as: 'admin' })).toMatchObject({
    status: 404,
    body: { error: 'NOT_FOUND' },
  })
}

/** Two uploads of the same bytes are two records. */
const isRecord: Scenario = async (room) => {
  const content = room.name()
  const [one, two] = [await upload(room, content), await upload(room, content)]
  expect(guidOf(one.body)).not.toBe(guidOf(two.body))
  expect(await room.manage('GET', `/_system/assets/${guidOf(two.body)}`)).toEqual(two.body)
  await room.manage('DELETE', `/_system/assets/${guidOf(one.body)}`)
  expect(await contentOf(room, guidOf(two.body))).toBe(content)
}

const MEBIBYTE = 1024 * 1024

/** What is answered to an upload that says how long it is and has sent nothing yet. */
async function announce(room: ContractRoom, length: number) {
  const announced = request(`${room.address}/api/v1${streamPath}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await room.tokenOf('admin')}`,
      'content-type': formWith(undefined).type,
      'content-length': length,
    },
  })
  announced.flushHeaders()
  const [reply]: IncomingMessage[] = await once(announced, 'response')
  if (reply === undefined) throw new Error('There is no reply.')
  const body = objectOf(JSON.parse(await text(reply)))
  announced.destroy()
  return { status: reply.statusCode, body }
}

/** The real limit. A sender that does not say how much it sends is in test/end-to-end/uploads.test.ts, with 501 MB. */
const refusesMore: Scenario = async (room) => {
  const count = { count: true }
  const before = await room.manage('POST', '/_system/assets/search', count)
  const kept = await room.files()
  const refused = await announce(room, 502 * MEBIBYTE)
  expect(refused).toMatchObject({ status: 413, body: { error: 'FILE_TOO_BIG' } })
  expect(refused.body.message).toContain(String(500 * MEBIBYTE))
  expect(await room.manage('POST', '/_system/assets/search', count)).toEqual(before)
  expect(await room.files()).toEqual(kept)
}

export const scenarios: Scenarios = {
  'POST /_system/assets/stream': uploads,
  'an upload is multipart': isMultipart,
  'POST /_system/assets/search': searchesAssets,
  'DELETE /_system/assets/{guid}': deletesAsset,
  'record: asset': isRecord,
  'asset upload size': refusesMore,
}
