import type { JsonObject } from '../../src/shared/json.ts'

const words = ['red', 'green', 'apple', 'pear', 'sweet']

/** Documents as they are stored; every tenth is open. From 4,000 on the planner prefers an index by itself. */
export function manyDocuments(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => {
    const cms = 1_700_000_000_000 + n * 400
    const guid = `0190000a-0000-7000-8000-${String((n * 7919) % count).padStart(12, '0')}`
    const created = Math.floor(cms / 1000)
    return {
      _meta: { guid, cms, ums: cms, created, updated: created, removed: 0 },
      status: n % 10 === 0 ? 'open' : `s${n % 37}`,
      ...(n % 11 === 0 ? {} : { count: (n * 31) % 2_000 }),
      title: `${words[n % 5]} ${words[n % 3]}`,
      text: n === 77 ? 'only here' : 'filling',
      tags: [words[n % 4] ?? ''],
    }
  })
}
