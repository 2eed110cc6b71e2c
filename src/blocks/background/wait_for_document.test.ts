import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import type { Query } from '../../shared/query.ts'
import block from './wait_for_document.ts'

const paid: Query = { kind: 'term', field: 'paid', value: true }

test.each([
  [{ storage: 'orders' }, 'must have a condition'],
  [{ storage: '_users', query: paid }, 'starts with _'],
  [{ storage: 'orders', query: paid, for: 'soon' }, 'must be seconds or 30s, 5m, 2h, 1d'],
])('%j is refused, and nothing is stored: %s', async (inputs, message) => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  await expect(runBlock(block, { inputs, wait })).rejects.toThrow(message)
})

test.each([
  [{}, {}, { title: 'Document of orders' }],
  [
    { for: '2h' },
    { title: 'Payment' },
    { title: 'Payment', until: { time: noon + 7_200_000, gives: { next: 'timeout' } } },
  ],
])('%j with %j waits for a document', async (inputs, fields, stored) => {
  const ran = await runBlock(block, { inputs: { storage: 'orders', query: paid, ...inputs }, fields })
  const awaits = { storage: 'orders', query: paid }
  expect(ran.waits).toEqual([{ kind: 'document', version: 'same', awaits, ...stored }])
  expect(ran).toMatchObject({ next: 'now', outputs: { wait: 'wait 1' } })
})
