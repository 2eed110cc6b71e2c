/** What happens to a run on its way through the pipeline, stage by stage. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { requestWith } from '../../test/run-block.ts'
import type { Reply } from '../blocks/reply.ts'
import { blockCounts } from './compile/graph-wiring.ts'
import type { RunFlow, RunStart } from './run/run-start.ts'
import { type Runs, runPipeline } from './run-pipeline.ts'

let quoin: TestQuoin
let blueprint: string

beforeAll(async () => {
  quoin = await openTestQuoin()
  blueprint = await quoin.install('numbers', {
    numbers: { type: 'storage', fields: { storage: 'numbers' } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'numbers' }, scopes: ['*public'] },
    find: { type: 'function_search', in: { flow: '@get.flow', storage: '@numbers.storage' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } },
  })
})
afterAll(() => quoin.close())

function startOf(replies: Reply[]): RunStart {
  const endpoint = quoin.quoin.flows.live.table().blueprints.get(blueprint)?.compiled.endpoints[0]
  if (!endpoint) throw new Error('The endpoint is not there.')
  const request = requestWith({})
  const onReply = (reply: Reply) => void replies.push(reply)
  return { flow: endpoint.flow, blueprint, input: endpoint.start(request), request, onReply }
}

const executed = () =>
  blockCounts(quoin.quoin.flows.catalogue)
    .entries()
    .reduce((sum, [, count]) => sum + count, 0)

const doneBy = (runs: Runs) => runs.ends.get(blueprint)?.done ?? 0

/** Sends the start so often; how many blocks that executed. */
async function executedBy(runs: Runs, times: number, more: Partial<RunStart> = {}): Promise<number> {
  const before = executed()
  const replies: Reply[] = []
  for (let round = 0; round < times; round++) await runs.run({ ...startOf(replies), ...more })
  expect(replies).toHaveLength(times)
  return executed() - before
}

test('each run is counted, and one that reads what it has read before is repeated', async () => {
  const runs = runPipeline(quoin.quoin.flows)
  const once = await executedBy(runs, 1)
  expect(once).toBeGreaterThan(0)
  await executedBy(runs, 1)
  // Where another node may have written, each request runs.
  expect(await executedBy(runs, 10)).toBe(inject('engine') === 'sqlite' ? 0 : 10 * once)
  expect(doneBy(runs)).toBe(12)
})

test('a traced run is counted and never repeated; the others go on to the next stage', async () => {
  const seen: string[] = []
  const traced = (next: RunFlow): RunFlow => {
    return (start) => {
      seen.push(start.traced ? 'traced' : 'passed on')
      return next(start)
    }
  }
  const runs = runPipeline(quoin.quoin.flows, traced)
  const once = await executedBy(runs, 1)
  await executedBy(runs, 1)
  const asked = await executedBy(runs, 3, { traced: () => undefined })
  expect(asked).toBe(3 * once)
  expect(seen).toEqual(['passed on', 'passed on', 'traced', 'traced', 'traced'])
  expect(doneBy(runs)).toBe(5)
})

test('two pipelines over the same flows count apart', async () => {
  const [one, other] = [runPipeline(quoin.quoin.flows), runPipeline(quoin.quoin.flows)]
  await executedBy(one, 2)
  expect([doneBy(one), doneBy(other)]).toEqual([2, 0])
})
