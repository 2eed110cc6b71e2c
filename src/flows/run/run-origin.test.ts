import { expect, test } from 'vitest'
import { originIn, originPayload, runOrigin } from './job-payload.ts'

const ada = { guid: 'a', username: 'ada' }

test.each([
  ['nobody', undefined, undefined, { depth: 0 }],
  ['a user without a guid', { username: 'ada' }, undefined, { depth: 0 }],
  ['a user', { _meta: { guid: 'a' }, username: 'ada', email: 'x' }, undefined, { user: ada, depth: 0 }],
  ['a cause', { _meta: { guid: 'b' }, username: 'bob' }, { user: ada, depth: 3 }, { user: ada, depth: 3 }],
])('a run for %s', (_who, user, cause, origin) => {
  expect(runOrigin('r', user, cause)).toEqual({ run: 'r', ...origin })
})

test.each([{}, { user: null, depth: 'x' }, { user: { guid: 1, username: 'ada' } }, { user: [] }])(
  '%j in a payload is no user, at the start of a chain',
  (payload) => {
    expect(originIn(payload)).toEqual({ depth: 0 })
  },
)

test.each([{ depth: 0 }, { user: ada, depth: 7 }])('%j comes back as it went', (origin) => {
  expect(originIn(originPayload({ ...origin, run: 'r' }))).toEqual(origin)
})
