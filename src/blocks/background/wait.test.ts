import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import block from './wait.ts'

const tomorrow = new Date(noon + 86_400_000)

test.each([
  [{}, 'must be seconds or 30s, 5m, 2h, 1d'],
  [{ for: 'soon' }, 'must be seconds or 30s, 5m, 2h, 1d'],
  [{ for: -5 }, 'must be seconds or 30s, 5m, 2h, 1d'],
  [{ for: '3661d' }, 'at most 3660d'],
  [{ until: 'soon' }, 'must be a date'],
  [{ until: new Date(noon + 3_661 * 86_400_000) }, 'must be at most 3,660 days ahead'],
  [{ for: '1d', until: tomorrow }, 'and until cannot be used together'],
])('%j is refused, and nothing is stored: %s', async (inputs, message) => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  await expect(runBlock(block, { inputs, wait })).rejects.toThrow(message)
})

test.each([
  [{ for: '0' }, noon],
  [{ for: 90 }, noon + 90_000],
  [{ for: '2h' }, noon + 7_200_000],
  [{ until: tomorrow }, tomorrow.getTime()],
  [{ until: new Date(noon - 1) }, noon - 1],
])('%j waits until %d, and the present run goes on at now', async (inputs, time) => {
  const ran = await runBlock(block, { inputs })
  const title = `Until ${new Date(time).toISOString()}`
  expect(ran.waits).toEqual([{ kind: 'time', title, until: { time, gives: {} }, version: 'same' }])
  expect(ran).toMatchObject({ next: 'now', outputs: { wait: 'wait 1' } })
})

test('it hands over what the builder chose', async () => {
  const { waits } = await runBlock(block, {
    inputs: { for: '1d' },
    fields: { title: 'Reminder', version: 'current' },
  })
  expect(waits).toMatchObject([{ title: 'Reminder', version: 'current' }])
})
