/** Uploads, and what they may weigh: on the disk, and on PostgreSQL in a bucket. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { formWith } from '../../document-server.ts'
import { guidOf, objectOf } from '../../end-to-end/harness.ts'
import { found, guarded } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

const streamPath = '/_system/assets/stream'

async function upload(fixture: ContractFixture, content: string, fields = {}, as = 'admin') {
  const { raw, type } = formWith({ name: 'note.txt', type: 'text/plain', content }, fields)
  const headers = { authorization: `Bearer ${await fixture.tokenOf(as)}`, 'content-type': type }
  const url = `/api/v1${streamPath}`
  const { statusCode, body } = await fixture.quoin.server.app.inject({
    method: 'POST',
    url,
    headers,
    payload: raw,
  })
  return { status: statusCode, body: objectOf(JSON.parse(body)) }
}

const contentOf = async (fixture: ContractFixture, guid: string) => {
  const headers = { authorization: `Bearer ${await fixture.tokenOf('admin')}` }
  const reply = await fetch(`${fixture.address}/api/v1/_system/assets/${guid}/content`, { headers })
  return reply.status === 200 ? reply.text() : reply.status
}

const uploads: Scenario = async (fixture) => {
  const refused = await upload(fixture, 'x', {}, 'stranger')
  expect(refused).toMatchObject({ status: 403, body: { error: 'INSUFFICIENT_PERMISSIONS' } })
  const content = fixture.name()
  const { status, body } = await upload(fixture, content, { filename: 'letter.txt', directory: 'letters' })
  expect([status, body]).toMatchObject([
    200,
    { name: 'letter.txt', type: 'text/plain', size: content.length, directory: 'letters' },
  ])
  expect(await contentOf(fixture, guidOf(body))).toBe(content)
}

/** Any other body is the file itself, and needs a name in the query. */
const isMultipart: Scenario = async (fixture) => {
  for (const body of [{ file: 'x' }, undefined]) {
    const sent = { as: 'admin', ...(body && { body }) }
    const answer = await fixture.send('POST', streamPath, sent)
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_BODY' } })
  }
  expect((await upload(fixture, fixture.name())).status).toBe(200)
}

const searchesAssets: Scenario = async (fixture) => {
  const path = '/_system/assets/search'
  await guarded(fixture, 'POST', path, 'assets_view')
  const directory = fixture.name()
  const { body } = await upload(fixture, directory, { directory })
  expect(await found(fixture, path, { filters: { directory } })).toEqual([body])
  expect(await found(fixture, path, { filters: { directory, type: 'image/png' } })).toEqual([])
}

const deletesAsset: Scenario = async (fixture) => {
  const { body } = await upload(fixture, fixture.name())
  const path = `/_system/assets/${guidOf(body)}`
  await guarded(fixture, 'DELETE', path, 'assets_remove')
  expect(await contentOf(fixture, guidOf(body))).not.toBe(404)
  expect(await fixture.manage('DELETE', path)).toEqual({ guid: guidOf(body), removed: true })
  expect(await contentOf(fixture, guidOf(body))).toBe(404)
  expect(await fixture.send('DELETE', path, { as: 'admin' })).toMatchObject({
    status: 404,
    body: { error: 'NOT_FOUND' },
  })
}

/** Two uploads of the same bytes are two records. */
const isRecord: Scenario = async (fixture) => {
  const content = fixture.name()
  const [one, two] = [await upload(fixture, content), await upload(fixture, content)]
  expect(guidOf(one.body)).not.toBe(guidOf(two.body))
  expect(await fixture.manage('GET', `/_system/assets/${guidOf(two.body)}`)).toEqual(two.body)
  await fixture.manage('DELETE', `/_system/assets/${guidOf(one.body)}`)
  expect(await contentOf(fixture, guidOf(two.body))).toBe(content)
}

const MEBIBYTE = 1024 * 1024

/** What is answered to an upload that says how long it is and has sent nothing yet. */
async function announce(fixture: ContractFixture, length: number) {
  const announced = request(`${fixture.address}/api/v1${streamPath}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await fixture.tokenOf('admin')}`,
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
const refusesMore: Scenario = async (fixture) => {
  const count = { count: true }
  const before = await fixture.manage('POST', '/_system/assets/search', count)
  const kept = await fixture.files()
  const refused = await announce(fixture, 502 * MEBIBYTE)
  expect(refused).toMatchObject({ status: 413, body: { error: 'FILE_TOO_BIG' } })
  expect(refused.body.message).toContain(String(500 * MEBIBYTE))
  expect(await fixture.manage('POST', '/_system/assets/search', count)).toEqual(before)
  expect(await fixture.files()).toEqual(kept)
}

export const scenarios: Scenarios = {
  'POST /_system/assets/stream': uploads,
  'an upload is multipart': isMultipart,
  'POST /_system/assets/search': searchesAssets,
  'DELETE /_system/assets/{guid}': deletesAsset,
  'record: asset': isRecord,
  'asset upload size': refusesMore,
}
