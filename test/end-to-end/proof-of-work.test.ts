/** Sign-up and new passwords above the rate: the form has a challenge, and only a browser that has solved it is heard. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { openVisitor, type SeenPage } from '../page-visitor.ts'
import { solve } from '../proof-solver.ts'
import { eventually } from './example-fixture.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

let mails: MailServer
let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin({
    ...{ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: 'https://club.example.com', QUOIN_SIGN_UP: 'on' },
    ...{
      QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
      QUOIN_MAIL_FROM: 'Club <club@example.com>',
    },
    QUOIN_PROOF_ABOVE: '2',
  })
  origin = await quoin.quoin.server.listen()
})
afterAll(async () => {
  await quoin?.close()
  await mails?.close()
})

const challengeIn = ({ html }: SeenPage) => /data-proof="([^"]+)"/.exec(html)?.[1]
const mailsTo = (address: string) => mails.taken.filter(({ to }) => to.includes(address)).length

test('the third request is asked for work, in the language of the page, and is heard once it is done', async () => {
  const visitor = openVisitor(origin)
  const first = await visitor.get('/login/new')
  expect([challengeIn(first), first.html.includes('without-script')]).toEqual([undefined, false])
  for (const email of ['a@example.com', 'b@example.com'])
    expect((await visitor.submit(first, 'signup', { email })).status).toBe(303)
  const headers = { 'accept-language': 'de' }
  // The form was shown before the rate was reached: the refusal brings the challenge.
  const refused = await visitor.submit(first, 'signup', { email: 'c@example.com' }, { headers })
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining('Zurzeit kommen viele Anfragen'),
  ])
  expect(refused.html).toContain('without-script')
  expect(refused.form('signup').input('email')).toContain('c@example.com')
  const solution = solve(challengeIn(refused) ?? '')
  const sent = { email: 'c@example.com', _proof: solution }
  expect((await visitor.submit(refused, 'signup', sent)).status).toBe(303)
  await eventually(() => mailsTo('c@example.com')).toBe(1)

  const again = await visitor.submit(refused, 'signup', { ...sent, email: 'd@example.com' })
  expect(again.status).toBe(422)
  expect(challengeIn(again)).not.toBe(challengeIn(refused))
  const forgot = await visitor.get('/password/forgot')
  const solved = solve(challengeIn(forgot) ?? '')
  const other = await visitor.get('/login/new')
  expect((await visitor.submit(other, 'signup', { email: 'd@example.com', _proof: solved })).status).toBe(422)
  expect((await visitor.submit(forgot, 'forgot', { email: 'd@example.com', _proof: solved })).status).toBe(
    303,
  )
  expect(mailsTo('d@example.com')).toBe(0)
  // Sign-in is not among the forms that ask for it.
  expect(challengeIn(await visitor.get('/login'))).toBeUndefined()
})
