/** Proof of work of forms of visitors: what is asked for, and which solutions are refused. */
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, type TestAccess } from '../../../test/open-test-access.ts'
import { firstBits, solve } from '../../../test/proof-solver.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { LinkSettings } from '../access-context.ts'
import { neededBits, PROOF_SECONDS } from './proof-of-work.ts'

const links: LinkSettings = {
  ...{ publicUrl: 'https://club.example.com', siteName: 'Club', signUp: [], proofAbove: 0 },
}
let fixture: TestAccess
let asked = 0
beforeEach(async () => {
  fixture = await openTestAccess({ links })
})
afterEach(() => fixture.close())

const forms = { signup: 'askSignUp', forgot: 'askReset' } as const
/** Each request is for another address and from another client: their limits are not the subject here. */
function send(proof?: string, form: keyof typeof forms = 'signup', node = fixture.access) {
  const number = ++asked
  const request = { email: `a${number}@example.com`, language: 'en', ip: `198.51.100.${number % 250}` }
  return outcome(node.links[forms[form]]({ ...request, ...(proof !== undefined && { proof }) }))
}
function challenge(form: keyof typeof forms = 'signup'): string {
  const text = fixture.access.links.challenge(form)
  if (text === undefined) throw new Error('No challenge is asked for.')
  return text
}

test.each([
  ['', ''],
  ['abc', 'abc'],
  ['55 characters', 'x'.repeat(55)],
])('the solver hashes %s as SHA-256 does', (_name, text) => {
  expect(firstBits(text)).toBe(createHash('sha256').update(text).digest().readUInt32BE(0))
})

test.each([
  [0, 30, 0],
  [30, 30, 0],
  [31, 30, 12],
  [60, 30, 13],
  [120, 30, 14],
  [1_000_000, 30, 16],
  [0, 0, 12],
  [4, 0, 14],
])('%i requests with a limit of %i cost %i bits', (requests, above, bits) => {
  expect(neededBits(requests, above)).toBe(bits)
})

test('below the rate nothing is asked for; above it a solution is, until the rate falls', async () => {
  await fixture.close()
  fixture = await openTestAccess({ links: { ...links, proofAbove: 2 } })
  expect(fixture.access.links.challenge('signup')).toBeUndefined()
  expect([await send(), await send(), await send()]).toEqual(['OK', 'OK', 'RATE_LIMITED'])
  expect(await send(solve(challenge()))).toBe('OK')
  fixture.pass(11 * 60)
  expect(fixture.access.links.challenge('signup')).toBeUndefined()
  expect(await send()).toBe('OK')
})

test('the refusal says that a proof is asked for, and a wrong address costs none', async () => {
  const request = { language: 'en', ip: IP }
  await expect(fixture.access.links.askSignUp({ ...request, email: 'a@example.com' })).rejects.toMatchObject({
    ...{ code: 'RATE_LIMITED', details: { proof: true } },
  })
  const proof = solve(challenge())
  expect(await outcome(fixture.access.links.askSignUp({ ...request, email: 'none', proof }))).toBe(
    'INVALID_BODY',
  )
  expect(await send(proof)).toBe('OK')
})

const part = (text: string, at: number, change: (one: string) => string) =>
  text
    .split('.')
    .map((one, index) => (index === at ? change(one) : one))
    .join('.')
const wrong: readonly (readonly [string, (solution: string) => string])[] = [
  ['with nothing', () => ''],
  ['without its number', (solution) => solution.split('.').slice(0, 4).join('.')],
  ['with another number', (solution) => part(solution, 4, (number) => `${Number(number) + 1}`)],
  ['with a number of 11 digits', (solution) => part(solution, 4, (number) => number.padStart(11, '0'))],
  ['that says it costs nothing', (solution) => part(solution, 1, () => '0')],
  ['that says it works longer', (solution) => part(solution, 0, (expiry) => `${Number(expiry) + 600}`)],
  ['of another challenge', (solution) => part(solution, 2, () => 'AAAAAAAAAAAAAAAA')],
  ['with a forged signature', (solution) => part(solution, 3, () => 'A'.repeat(43))],
  ['with something behind it', (solution) => `${solution}.1`],
]
test.each(wrong)('a solution %s is refused', async (_name, change) => {
  const solution = solve(challenge())
  expect(await send(change(solution))).toBe('RATE_LIMITED')
  expect(await send(solution)).toBe('OK')
})

test('a solution works once on all nodes, for its form and for ten minutes', async () => {
  const node = await fixture.otherNode()
  const solution = solve(challenge())
  expect(await send(solution, 'forgot')).toBe('RATE_LIMITED')
  const both = await Promise.all([send(solution), send(solution, 'signup', node)])
  expect(both.toSorted()).toEqual(['OK', 'RATE_LIMITED'])
  expect(await send(solution, 'signup', node)).toBe('RATE_LIMITED')
  // That it was used is known for as long as it could be used again.
  const [used] = await fixture.records(systemStorages.signInChallenges)
  expect(used?.expiry).toBe(Number(solution.split('.')[0]))
  const early = solve(challenge())
  fixture.pass(PROOF_SECONDS)
  expect(await send(early)).toBe('RATE_LIMITED')
})
