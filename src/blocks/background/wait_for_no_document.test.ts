import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import type { Query } from '../../shared/query.ts'
import block from './wait_for_no_document.ts'

const open: Query = { kind: 'term', field: 'status', value: 'open' }

test.each([
  [{ storage: 'orders' }, 'must have a condition: else any document keeps the wait'],
  [{ storage: '_users', query: open }, 'starts with _'],
  [{ storage: 'orders', query: open, until: new Date(noon + 4e11) }, 'at most 3,660 days ahead'],
])('%j is refused, and nothing is stored: %s', async (inputs, message) => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  await expect(runBlock(block, { inputs, wait })).rejects.toThrow(message)
})

test('the run waits until none fits', async () => {
  const ran = await runBlock(block, { inputs: { storage: 'orders', query: open, for: '2h' } })
  const until = { time: noon + 7_200_000, gives: { next: 'timeout' } }
  const awaits = { storage: 'orders', query: open, none: true }
  expect(ran.waits).toEqual([
    { kind: 'document', title: 'No document of orders', version: 'same', awaits, until },
  ])
  expect(ran).toMatchObject({ next: 'now', outputs: { wait: 'wait 1' } })
})
