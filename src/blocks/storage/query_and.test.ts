import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import queryAnd from './query_and.ts'

const open = { kind: 'term', field: 'status', value: 'open' }
const late = { kind: 'range', field: 'due', bounds: { lt: 5 } }

describe('query_and', () => {
  test.each([
    ['all of several, in their order', [open, late], { kind: 'and', queries: [open, late] }],
    ['skips an empty one', [undefined, open, undefined, late], { kind: 'and', queries: [open, late] }],
    ['a single one as it is', [undefined, open], open],
    ['no filter of empty ones', [undefined, undefined], undefined],
    ['no filter of none', [], undefined],
  ])('%s', async (_name, queries, query) => {
    const { outputs } = await runBlock(queryAnd, { inputs: { queries } })
    expect(outputs).toEqual({ query })
  })
})
