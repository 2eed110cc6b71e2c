import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import block from './wait_for_webhook.ts'

test.each([
  [{ for: 'soon' }, 'must be seconds or 30s, 5m, 2h, 1d'],
  [{ for: '1d', until: new Date(noon) }, 'and until cannot be used together'],
])('%j is refused, and nothing is stored: %s', async (inputs, message) => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  await expect(runBlock(block, { inputs, wired: [], wait })).rejects.toThrow(message)
})

test.each([
  [{}, {}, { title: 'Webhook', version: 'same' }],
  [
    { for: '2h' },
    { title: 'Payment', version: 'current' },
    {
      ...{ title: 'Payment', version: 'current' },
      until: { time: noon + 7_200_000, gives: { next: 'timeout' } },
    },
  ],
])('%j with %j waits, and gives an address with a token', async (inputs, fields, stored) => {
  const ran = await runBlock(block, { inputs, fields, publicUrl: 'https://shop.example' })
  expect(ran.waits).toEqual([{ kind: 'request', withToken: true, ...stored }])
  expect(ran).toMatchObject({
    next: 'now',
    outputs: {
      wait: 'wait 1',
      address: '/api/v1/_hooks/wait 1?token=token 1',
      url: 'https://shop.example/api/v1/_hooks/wait 1?token=token 1',
    },
  })
})

test('url without the address of the site fails, and nothing is stored; address does not', async () => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  await expect(runBlock(block, { wired: ['url'], wait })).rejects.toMatchObject({ code: 'CONFLICT' })
  const { outputs } = await runBlock(block, { wired: ['address'] })
  expect(Object.keys(outputs)).toEqual(['wait', 'address'])
})
