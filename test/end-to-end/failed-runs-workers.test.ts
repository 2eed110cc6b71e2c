/** With reading processes: a run that fails in one is done again by the writer, which keeps it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, objectsOf } from './harness.ts'
import { soon } from './tracing-room.ts'
import { openWorkerRoom, type WorkerRoom } from './worker-room.ts'

let room: WorkerRoom
let blueprint = ''
beforeAll(async () => {
  room = await openWorkerRoom()
  blueprint = await room.install('Failing reads', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'reads' }, scopes: ['*public'] },
    search: { type: 'function_search', in: { flow: '@get.flow', storage: 'orders', limit: '=0 - 5' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '=search.total' } },
    refusing: { type: 'on_startup_register_uri_get', in: { uri: 'refusals' }, scopes: ['*public'] },
    refusal: { type: 'reply', in: { flow: '@refusing.flow', code: 410, value: '=query.at' } },
  })
})
afterAll(() => room?.close())

test('a request that fails is kept with the guid of its reply and its log entry, whichever process answers', async () => {
  expect(room.readers().length).toBeGreaterThan(0)
  const replies = await room.everywhere('/reads')
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 500))
  const told = new Set(replies.map(({ body }) => objectOf(body).run))
  const runs = await soon(async () => {
    const kept = objectsOf(await room.manage('GET', `/runs?blueprint=${blueprint}`))
    return kept.length > 0 ? kept : undefined
  })
  expect(runs.every(({ guid, recorded_as: as }) => told.has(guid ?? '') && as === 'failed')).toBe(true)
  const { error } = objectOf(runs[0])
  const logged = objectsOf(
    await room.manage('POST', '/_system/systemlogs/search', { filters: { run: runs[0]?.guid ?? '' } }),
  )
  expect(logged).toMatchObject([{ level: 'error', blueprint, block: objectOf(error).block }])
})

test('a request that a reading process refuses by its reply is kept by the writer', async () => {
  const replies = await room.everywhere('/refusals?at=9')
  expect(replies.map(({ status, body }) => [status, body])).toEqual(replies.map(() => [410, '9']))
  const runs = await soon(async () => {
    const all = objectsOf(await room.manage('GET', `/runs?blueprint=${blueprint}`))
    const kept = all.filter(({ recorded_as: as }) => as === 'refused')
    return kept.length > 0 ? kept : undefined
  })
  expect(runs).toHaveLength(1)
  expect(runs[0]).toMatchObject({ label: 'GET refusals', status: 'ended', reply: { status: 410 } })
})
