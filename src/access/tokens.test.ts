import { afterEach, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { openTestAccess } from '../../test/open-test-access.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import { transact } from '../storage/transact.ts'
import { createToken, deleteTokensOf } from './tokens.ts'

let fixture: TestAccess
afterEach(() => fixture.close())

test('all tokens of a user go, more than one page of them too, and none of other users', async () => {
  fixture = await openTestAccess()
  const others = await fixture.records('_tokens')
  const random = seededRandom(3)
  const token = { userGuid: 'somebody', ip: '192.0.2.1', agent: '', created: 0, expiry: 4_000_000_000 }
  await transact(fixture.database, async (session) => {
    for (let count = 0; count < 501; count++) await createToken(session, random, token)
  })
  expect(await fixture.records('_tokens')).toHaveLength(501 + others.length)
  await transact(fixture.database, (session) => deleteTokensOf(session, 'somebody'))
  expect(await fixture.records('_tokens')).toEqual(others)
})
