import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Runs, runPipeline } from '../../flows/run-pipeline.ts'
import { runMetrics } from './metric-sets.ts'

let slow: LocalServer
let quoin: TestQuoin
let runs: Runs
let blueprint: string
/** Lets the slow server answer its request. */
let release: () => void = () => undefined
/** Resolves when it got a request. */
const arrived = Promise.withResolvers<void>()

beforeAll(async () => {
  slow = await startLocalServer((_request, response) => {
    release = () => void response.end('done')
    arrived.resolve()
  })
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${slow.port}` })
  runs = runPipeline(quoin.quoin.flows)
  blueprint = await quoin.install('waits', {
    on: { type: 'trigger_custom_function', fields: { name: 'wait' } },
    ask: { type: 'http_request', in: { flow: '@on.flow', url: slow.url } },
    back: { type: 'function_return', in: { flow: '@ask.flow', value: 'back' } },
  })
})
afterAll(async () => {
  release()
  await quoin.close()
  await slow.close()
})

function run() {
  const called = quoin.quoin.flows.live.table().functions.get('wait')
  if (!called) throw new Error('The function is not there.')
  return Promise.resolve(runs.run({ flow: called.flow, blueprint, input: called.start({}) }))
}

const metrics = () => runMetrics(runs, quoin.quoin.flows.live)
const underWay = () => metrics().find(({ name }) => name === 'quoin_runs_under_way')?.samples
const ended = () =>
  metrics()
    .find(({ name }) => name === 'quoin_runs_total')
    ?.samples.filter(({ value }) => value > 0)

test('nothing under way: settled at once, and nothing counted', async () => {
  await runs.settled(60_000)
  expect(underWay()).toEqual([{ value: 0 }])
  expect(ended()).toEqual([])
})

test('a run under way is waited for, and counted when it has ended', async () => {
  const end = run()
  expect(underWay()).toEqual([{ value: 1 }])
  expect(ended()).toEqual([])
  let isSettled = false
  const settled = runs.settled(60_000).then(() => {
    isSettled = true
  })
  await arrived.promise
  await runs.settled(1)
  expect(isSettled).toBe(false)
  release()
  expect(await end).toMatchObject({ error: undefined, result: 'back' })
  await settled
  expect(underWay()).toEqual([{ value: 0 }])
  expect(ended()).toEqual([{ labels: { blueprint, name: 'waits', outcome: 'done' }, value: 1 }])
})
