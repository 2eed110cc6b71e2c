import { expect, test } from 'vitest'
import { ask } from '../bench/requests.ts'
import { anotherEachTime, atNewAddresses } from '../bench/rows.ts'

const candidate = { token: 't', guids: ['a', 'b'] }
type Asks = ReturnType<typeof anotherEachTime>

const lists = Array.from({ length: 1_000 }, (_, number) => ask({ path: `list/${number}` }))

/** What is asked in a round of so many requests, without the writes. */
function round(asks: Asks, requests: number): string[] {
  const next = asks(candidate)
  return Array.from({ length: requests }, () => next())
    .filter(({ counted }) => counted)
    .map(({ bytes }) => bytes.toString())
}

/** What Quoin remembers of the round before is not what the row is to measure. */
test.each<[string, Asks]>([
  ['documents at new addresses', atNewAddresses()],
  ['lists, another one each time', anotherEachTime(lists)],
])('%s: none comes again in another round', (_, asks) => {
  const all = [...round(asks, 120), ...round(asks, 120)]
  expect(all.length).toBeGreaterThan(200)
  expect(new Set(all).size).toBe(all.length)
})
