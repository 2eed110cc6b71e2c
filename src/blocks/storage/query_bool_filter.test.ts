import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import queryBoolFilter from './query_bool_filter.ts'

const open = { kind: 'term', field: 'status', value: 'open' }
const late = { kind: 'range', field: 'due', bounds: { lt: 5 } }

describe('query_bool_filter', () => {
  test.each([
    ['all of several', [open, late], { kind: 'filter', query: { kind: 'and', queries: [open, late] } }],
    ['skips an empty one', [undefined, open], { kind: 'filter', query: open }],
    ['no filter of empty ones', [undefined], undefined],
    ['no filter of none', [], undefined],
  ])('%s', async (_name, queries, query) => {
    const { outputs } = await runBlock(queryBoolFilter, { inputs: { queries } })
    expect(outputs).toEqual({ query })
  })
})
