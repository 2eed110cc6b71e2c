import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import block from './wait_for_approval.ts'

const inputs = { title: 'Order', scopes: ['orders_approve'] }
const fifty = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`f${at}`, at]))

test.each([
  [{}, 'title is empty'],
  [{ title: 'Order' }, 'scopes must name a scope, or the link must be used'],
  [{ title: 'x'.repeat(201), scopes: ['a'] }, 'must be at most 200 characters'],
  [{ ...inputs, text: 'x'.repeat(10_001) }, 'must be at most 10,000 characters'],
  [{ ...inputs, fields: fifty }, 'at most 50 values'],
  [{ ...inputs, fields: { a: 'x'.repeat(50_001) } }, '50,000 characters in all'],
  [{ ...inputs, scopes: ['*public'] }, 'without *public'],
  [{ ...inputs, scopes: [''] }, 'list of at most 20 names'],
  [{ ...inputs, scopes: Array(21).fill('a') }, 'list of at most 20 names'],
  [{ ...inputs, for: 'soon' }, 'must be seconds or 30s, 5m, 2h, 1d'],
  [{ ...inputs, for: '1d', until: new Date(noon) }, 'and until cannot be used together'],
])('%j is refused, and nothing is stored: %s', async (input, message) => {
  const wait = () => {
    throw new Error('nothing may be stored')
  }
  const ran = runBlock(block, { inputs: input, wait, wired: [] })
  await expect(
    ran.catch((error) => Promise.reject(new Error(`${error.pin} ${error.message}`))),
  ).rejects.toThrow(message)
})

test('a deploy refuses scopes that open the page to every caller', () => {
  expect(() => block.check?.({ scopes: ['*public'] }, {})).toThrow('without *public')
  expect(() => block.check?.({}, {})).not.toThrow()
})

test.each([
  [['flow'], false, undefined],
  [['link'], true, '/_approvals/wait 1?token=token 1'],
])('wired at %j: makes a token: %s', async (wired, withToken, link) => {
  const ran = await runBlock(block, { inputs: { ...inputs, fields: { Price: 5 } }, wired })
  expect(ran.waits).toEqual([
    {
      ...{ kind: 'approval', title: 'Order', version: 'same', scopes: ['orders_approve'], withToken },
      details: { title: 'Order', text: '', fields: { Price: 5 } },
    },
  ])
  expect(ran).toMatchObject({ next: 'now', outputs: { wait: 'wait 1', page: '/_approvals/wait 1' } })
  expect(ran.outputs.link).toBe(link)
})

test.each([
  [['page_url'], false, { page_url: 'https://shop.example/_approvals/wait 1' }],
  [['link_url'], true, { link_url: 'https://shop.example/_approvals/wait 1?token=token 1' }],
])('with the address of the site, wired at %j: %s, %j', async (wired, withToken, input) => {
  const publicUrl = 'https://shop.example'
  const ran = await runBlock(block, { inputs, wired, publicUrl })
  expect(ran.waits).toMatchObject([{ withToken }])
  const { page_url, link_url } = ran.outputs
  expect(JSON.parse(JSON.stringify({ page_url, link_url }))).toEqual(input)
})

test.each(['page_url', 'link_url'])(
  '%s without the address of the site fails, and nothing is stored',
  async (pin) => {
    const wait = () => {
      throw new Error('nothing may be stored')
    }
    await expect(runBlock(block, { inputs, wired: [pin], wait })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `${pin} needs the address of the site. Set QUOIN_PUBLIC_URL on every node.`,
    })
  },
)

test('it continues at timeout when its time is over', async () => {
  const { waits } = await runBlock(block, {
    inputs: { ...inputs, for: '2h' },
    wired: ['timeout'],
    fields: { version: 'current' },
  })
  expect(waits).toMatchObject([
    { until: { time: noon + 7_200_000, gives: { next: 'timeout' } }, version: 'current' },
  ])
})
