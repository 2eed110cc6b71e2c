/** How often jobs are tried, and when again, as the blocks say that make them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin.close())

const soon = { timeout: 20_000, interval: 20 }
const fail = (flow: string): JsonObject => ({
  type: 'fail',
  in: { flow, status: 500, message: 'It fails.' },
})
const jobs = async (type: string) =>
  objectsOf(await quoin.manage('POST', '/queue/search', { filters: { type } }))
/** Seconds from the first attempt to the next. */
const pauseOf = (job: JsonObject | undefined) => Number(job?.scheduled_for) - Number(job?.started_at)

test.each<[string, JsonObject, () => Promise<unknown>]>([
  [
    'function',
    {
      ask: { type: 'on_startup_register_uri_post', in: { uri: 'later' }, scopes: ['*public'] },
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@ask.flow', function: 'fails', attempts: 5, back_off: '10m' },
      },
      begin: { type: 'trigger_custom_function', fields: { name: 'fails' } },
      fail: fail('@begin.flow'),
    },
    () => quoin.send('POST', '/later', { body: {} }),
  ],
  [
    'event',
    {
      ask: { type: 'on_startup_register_uri_post', in: { uri: 'watched' }, scopes: ['*public'] },
      keep: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@ask.flow', storage: 'watched', set: '={ a: 1 }' },
      },
      watched: { type: 'storage', fields: { storage: 'watched' } },
      event: {
        type: 'storage_event',
        in: { storage: '@watched.storage', events: 'on_created', attempts: 5, back_off: '10m' },
      },
      fail: fail('@event.flow'),
    },
    () => quoin.send('POST', '/watched', { body: {} }),
  ],
  [
    'tick',
    {
      tick: { type: 'schedule_repeating_event', in: { every: '1s', attempts: 5, back_off: '10m' } },
      fail: fail('@tick.flow'),
    },
    async () => undefined,
  ],
  [
    'failure',
    {
      ask: { type: 'on_startup_register_uri_post', in: { uri: 'failing' }, scopes: ['*public'] },
      break: fail('@ask.flow'),
      failed: { type: 'failure_event', in: { attempts: 5, back_off: '10m' } },
      fail: fail('@failed.flow'),
    },
    () => quoin.send('POST', '/failing', { body: {} }),
  ],
])(
  'a job of the type %s is tried again after the pause of its block, as often as it says',
  async (type, blocks, start) => {
    const guid = await quoin.install(`Retries ${type}`, blocks)
    await start()
    await expect.poll(async () => (await jobs(type)).filter((one) => one.error), soon).not.toEqual([])
    const failed = (await jobs(type)).find((one) => one.error)
    expect(failed).toMatchObject({ status: 'waiting', attempts: 1, max_attempts: 5 })
    expect(pauseOf(failed)).toBeGreaterThanOrEqual(299)
    expect(pauseOf(failed)).toBeLessThanOrEqual(601)
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  },
)
