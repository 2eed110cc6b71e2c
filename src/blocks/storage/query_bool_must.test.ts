import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import queryBoolMust from './query_bool_must.ts'

const late = { kind: 'range', field: 'due', bounds: { lt: 5 } }
const mine = { kind: 'term', field: 'owner', value: 'me' }
const term = { kind: 'term', field: 'status', value: 'open' }

const none = { kind: 'or', queries: [] }

describe('query_bool_must', () => {
  test.each([
    ['terms without a field', { terms: ['open'] }, 'field', /is empty/],
    ['terms with an empty field', { field: '', terms: ['open'] }, 'field', /is empty/],
    ['a bad field', { field: 'a..b', terms: ['open'] }, 'field', /empty part/],
    ['objects as terms', { field: 'status', terms: [{ a: 1 }] }, 'terms', /must be text, a number/],
    ['lists in the list', { field: 'status', terms: [['open']] }, 'terms', /must be text, a number/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await runBlock(queryBoolMust, { inputs }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['one term', { field: 'status', terms: ['open'] }, term],
    ['one value instead of a list', { field: 'status', terms: 'open' }, term],
    [
      'several terms',
      { field: 'status', terms: ['open', 'late'] },
      { kind: 'terms', field: 'status', values: ['open', 'late'] },
    ],
    [
      'text that spells a number or boolean finds both',
      { field: 'status', terms: ['5', 'true', 7] },
      { kind: 'terms', field: 'status', values: ['5', 5, 'true', true, 7] },
    ],
    ['the same term twice is one', { field: 'status', terms: ['open', 'open', null] }, term],
    ['queries', { queries: [late, mine] }, { kind: 'or', queries: [late, mine] }],
    ['a single query as it is', { queries: [undefined, late] }, late],
    [
      'terms or queries',
      { field: 'status', terms: ['open'], queries: [late, mine] },
      { kind: 'or', queries: [term, late, mine] },
    ],
    ['nothing found by an empty list', { field: 'status', terms: [] }, none],
    ['nothing found by a list of nothing', { field: 'status', terms: [null] }, none],
    ['nothing found by a missing list', { field: 'status' }, none],
    ['nothing found by an empty list beside empty queries', { terms: [], queries: [undefined] }, none],
    ['only the queries beside an empty list', { field: 'status', terms: [], queries: [late] }, late],
    ['no filter of nothing', {}, undefined],
    ['no filter of an ignored empty list', { field: 'status', terms: [], ignore_empty: true }, undefined],
    ['no filter of an ignored missing list', { field: 'status', ignore_empty: true }, undefined],
    ['a term, with empty ones ignored too', { field: 'status', terms: ['open'], ignore_empty: true }, term],
  ])('%s', async (_name, inputs, query) => {
    const { outputs } = await runBlock(queryBoolMust, { inputs })
    expect(outputs).toEqual({ query })
  })
})
