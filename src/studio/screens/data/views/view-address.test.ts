import { expect, test } from 'vitest'
import { viewAddress, wordsOfView } from './view-address.ts'

test('a view keeps what is listed and how, and neither the page nor what is open', () => {
  const words =
    'view=v&filter=a~is~1&filter=b~is~2&sort=-a&columns=a,b&widths=a:90&page=7&after=c&open=advice&tab=fields'
  const address = viewAddress(new URLSearchParams(words))
  expect(address).toBe('filter=a%7Eis%7E1&filter=b%7Eis%7E2&sort=-a&columns=a%2Cb&widths=a%3A90')
  expect(wordsOfView('v', `${address}&page=3&tab=fields`).toString()).toBe(`${address}&view=v`)
})
