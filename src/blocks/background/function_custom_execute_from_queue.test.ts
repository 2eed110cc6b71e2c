import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './function_custom_execute_from_queue.ts'

test.each([
  [{}, 'is empty'],
  [{ function: ' ' }, 'must be 1 to 128 letters'],
  [{ function: 'f', queue: 'Mail' }, 'must be 1 to 63 characters of a–z'],
  [{ function: 'f', queue: '_events' }, 'starts with _'],
  [{ function: 'f', delay: 'soon' }, 'must be seconds or'],
  [{ function: 'f', delay: -5 }, 'must be seconds or'],
  [{ function: 'f', delay: '367d' }, 'at most 366d'],
  [{ function: 'f', priority: 1001 }, 'must be a whole number from -1,000 to 1,000'],
  [{ function: 'f', attempts: 0 }, 'must be a whole number from 1 to 100'],
  [{ function: 'f', dedupe_key: 'k'.repeat(301) }, 'must be at most 300 characters'],
])('%j is refused: %s', async (inputs, message) => {
  const enqueue = () => {
    throw new Error('nothing may be enqueued')
  }
  await expect(runBlock(block, { inputs, enqueue })).rejects.toThrow(message)
})

test('a queue that cannot take it fails the block', async () => {
  const enqueue = () => Promise.reject(new RangeError('full'))
  await expect(runBlock(block, { inputs: { function: 'f' }, enqueue })).rejects.toThrow('full')
})

test('with nothing but a name it is tried three times, from now on, in the queue default', async () => {
  const ran = await runBlock(block, { inputs: { function: ' mail ', queue: '', delay: ' ', dedupe_key: '' } })
  const call = { function: 'mail', parameters: {}, queue: 'default', delay: 0, priority: 0, attempts: 3 }
  expect(ran.enqueued).toEqual([call])
  expect(ran).toMatchObject({ next: 'flow', outputs: { job: 'job 1' } })
})

test('it hands over everything that was chosen', async () => {
  const ran = await runBlock(block, {
    inputs: { function: 'mail', queue: 'slow', delay: '5m', priority: -1, attempts: 1, dedupe_key: ' k ' },
    fields: { parameters: ['to', 'lines', 'none'] },
    more: { to: 'ada', lines: new StoredJson('[1]') },
  })
  expect(ran.enqueued).toEqual([
    {
      function: 'mail',
      parameters: { to: 'ada', lines: [1], none: undefined },
      queue: 'slow',
      delay: 300_000,
      priority: -1,
      attempts: 1,
      dedupeKey: 'k',
    },
  ])
})

test('a plain number of seconds is a delay too', async () => {
  const { enqueued } = await runBlock(block, { inputs: { function: 'f', delay: 90 } })
  expect(enqueued).toMatchObject([{ delay: 90_000 }])
})

test('when a job with its key is there already, the flow goes on without one', async () => {
  const ran = await runBlock(block, { inputs: { function: 'f', dedupe_key: 'k' }, enqueue: () => undefined })
  expect(ran.next).toBe('flow')
  expect(ran.outputs.job).toBeUndefined()
})
