/** New passwords, invitations and sign-up by links in mails: a browser without JavaScript, a real SMTP server, both engines. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { search } from '../../src/shared/query.ts'
import { transact } from '../../src/storage/transact.ts'
import { type MailServer, openMailServer, partOf, type TakenMail } from '../mail-server.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import { eventually } from './example-fixture.ts'
import { adminPassword, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const SITE = 'https://club.example.com'
const HOUR = 3_600_000
const fresh = 'a fresh password of mine'

let mails: MailServer
let quoin: TestQuoin
let origin: string
let turn = 0
const settings = (): Record<string, string> => ({
  QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
  QUOIN_MAIL_FROM: 'Club <club@example.com>',
  QUOIN_PUBLIC_URL: SITE,
  QUOIN_SIGN_UP: 'members',
  // The limits by client and address are the subject here; proof-of-work.test.ts has the rate of all.
  QUOIN_PROOF_ABOVE: '1000000',
  QUOIN_SITE_NAME: 'The Club',
  // In production administrators set up a second factor within a week; these tests go weeks on.
  ...{ QUOIN_TRUST_PROXY: 'loopback', QUOIN_RATE_LIMIT: '0', QUOIN_ENVIRONMENT: 'development' },
})

beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin(settings())
  origin = await quoin.quoin.server.listen()
  await quoin.manage('POST', '/_system/authentication-groups', { name: 'members', scopes: ['read_news'] })
})
afterAll(async () => {
  await quoin.close()
  await mails.close()
})
beforeEach(() => void turn++)

/** Each test comes from an address of its own. */
const from = () => ({ 'x-forwarded-for': `198.51.100.${turn}`, 'user-agent': 'Club browser 1.0' })
const mailsTo = (address: string) => mails.taken.filter(({ to }) => to.includes(address))
const mailTo = async (address: string, number = 1): Promise<TakenMail> => {
  await eventually(() => mailsTo(address).length).toBe(number)
  return mailsTo(address)[number - 1] ?? Promise.reject(new Error('no mail'))
}
/** The path of the link in a mail: where it leads is checked. */
const pathIn = ({ body }: TakenMail) => {
  const text = body.replace(/=\r\n/g, '').replaceAll('=3D', '=')
  const url = /https:\/\/club\.example\.com(\/password\/set\?link=ql_[A-Za-z0-9_-]{43})/.exec(text)
  if (!url?.[1]) throw new Error(`No link in ${text}`)
  return url[1]
}
const signIn = (username: string, password: string) =>
  quoin.send('POST', '/auth/signin', { body: { username, password }, headers: from() })
const asked = async (path: string, email: string, visitor: Visitor = openVisitor(origin)) => {
  const page = await visitor.get(path)
  expect(page.status).toBe(200)
  return visitor.submit(page, path === '/login/new' ? 'signup' : 'forgot', { email }, { headers: from() })
}
/** Opens the page of a link, and gives what chooses a password there. */
const opened = async (path: string) => {
  const visitor = openVisitor(origin)
  const page = await visitor.get(path)
  expect(page.status, page.text).toBe(200)
  return (password: string, repeat = password) =>
    visitor.submit(page, 'choose', { new: password, repeat }, { headers: from() })
}
const choose = async (path: string, password: string, repeat = password) =>
  (await opened(path))(password, repeat)
const user = async (name: string, more: JsonObject = {}) =>
  objectOf(
    await quoin.manage('POST', '/users', {
      ...{ username: name, password: 'the old password', email: `${name}@example.com` },
      ...more,
    }),
  )
const jobs = async () => objectsOf(await quoin.manage('POST', '/queue/search', { limit: 200 }))
/** A mail that the server did not take waits for its next attempt. */
const failedOnce = (address: string) =>
  eventually(async () =>
    (await jobs()).filter(
      ({ title, status, attempts }) =>
        String(title).startsWith(address) && status === 'waiting' && Number(attempts) > 0,
    ),
  ).toHaveLength(1)
const settled = async () =>
  eventually(async () => (await jobs()).filter(({ status }) => status !== 'done')).toEqual([])
const userLog = async (event: string) =>
  objectsOf(await quoin.manage('GET', `/_system/userlogs/search?limit=200`)).filter(
    (one) => one.event === event,
  )

describe('a new password', () => {
  test('what is no address is refused, and nothing is stored', async () => {
    for (const email of ['ann', '', 'a@b@c.de', 'ann@example.com\r\nBcc: eve@example.com'])
      expect((await asked('/password/forgot', email)).status, email).toBe(422)
    expect(await jobs()).toEqual([])
  })

  test('no reply tells whether an address has an account', async () => {
    await user('known')
    await user('inactive', { is_active: false })
    const seen = []
    for (const name of ['unknown', 'known', 'inactive']) {
      const visitor = openVisitor(origin)
      const sent = await asked('/password/forgot', `${name}@example.com`, visitor)
      seen.push([sent.status, sent.headers.get('location'), (await visitor.follow(sent)).text])
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[2]).toEqual(seen[0])
    expect(seen[0]?.[2]).toContain('If an account has this address')
    // The same work: one job each, which alone looks for the user.
    await settled()
    const waiting = (await jobs()).filter(({ title }) => String(title).includes('new password'))
    const names = waiting.map(({ title }) => String(title).split('@')[0])
    expect(names.sort().join()).toBe('inactive,known,unknown')
    expect(mails.taken.map(({ to }) => to[0])).toEqual(['known@example.com'])
  })

  test('the link sets it once: sessions end, the lock ends, and the audit log names the user', async () => {
    const { _meta } = await user('ann', { language: 'de-AT' })
    const token = objectOf((await signIn('ann', 'the old password')).body).access_token
    for (let tries = 0; tries < 10; tries++) await signIn('ann', 'a wrong password')
    expect((await signIn('ann', 'the old password')).status).toBe(429)
    await asked('/password/forgot', 'ANN@example.com')
    const mail = await mailTo('ann@example.com')
    expect(mail.headers.subject).toMatch(/Neues_?.*Passwort|UTF-8/)
    const path = pathIn(mail)
    // A mail program opens the link, more than once.
    for (let times = 0; times < 3; times++)
      expect((await openVisitor(origin).get(path)).text).toContain('Account: ann New')
    expect((await signIn('ann', fresh)).status).toBe(429)
    expect((await choose(path, 'short')).status).toBe(422)
    expect((await choose(path, fresh, 'another password')).status).toBe(422)
    const done = await choose(path, fresh)
    expect([done.status, done.headers.get('location')]).toEqual([303, '/login'])
    expect((await signIn('ann', 'the old password')).status).toBe(401)
    expect((await signIn('ann', fresh)).status).toBe(200)
    const headers = { authorization: `Bearer ${token}` }
    expect((await quoin.send('GET', '/users/me', { headers })).status).toBe(401)
    const again = await openVisitor(origin).get(path)
    expect([again.status, again.text]).toEqual([404, expect.stringContaining('This link cannot be used')])
    const guid = String(objectOf(_meta).guid)
    const audit = objectsOf(
      await quoin.manage('POST', '/_system/auditlogs', { filters: { guid }, limit: 50 }),
    )
    expect(audit.filter(({ changes }) => JSON.stringify(changes).includes('"password"'))).toMatchObject([
      { category: 'users', action: 'updated', user: { guid, username: 'ann' } },
    ])
    for (const event of ['password_reset_sent', 'password_set_by_link'])
      expect(await userLog(event)).toContainEqual(
        expect.objectContaining({
          ...{ user: { guid, username: 'ann' }, ip: `198.51.100.${turn}` },
          agent: 'Club browser 1.0',
        }),
      )
  })

  test.each<[string, (guid: string) => Promise<unknown>]>([
    ['an hour', async () => quoin.advance(HOUR)],
    [
      'a new password',
      (guid) => quoin.manage('PUT', `/users/${guid}`, { password: 'set by an administrator' }),
    ],
    [
      'another address',
      (guid) => quoin.manage('PUT', `/users/${guid}`, { email: `moved-${guid}@example.com` }),
    ],
    ['deactivation', (guid) => quoin.manage('PUT', `/users/${guid}`, { is_active: false })],
    ['removal', (guid) => quoin.manage('DELETE', `/users/${guid}`)],
  ])('%s ends the link', async (what, end) => {
    const name = `end-${what.replaceAll(' ', '-')}`
    const { _meta } = await user(name)
    await asked('/password/forgot', `${name}@example.com`)
    const path = pathIn(await mailTo(`${name}@example.com`))
    const visitor = openVisitor(origin)
    const page = await visitor.get(path)
    await end(String(objectOf(_meta).guid))
    expect((await visitor.get(path)).status).toBe(404)
    const chosen = { new: fresh, repeat: fresh }
    expect((await visitor.submit(page, 'choose', chosen, { headers: from() })).status).toBe(404)
    expect((await signIn(name, fresh)).status).not.toBe(200)
  })

  test('the mail goes to the address that is stored, not to one that only looks the same folded', async () => {
    await user('kim')
    expect((await asked('/password/forgot', '\u212aim@EXAMPLE.com')).status).toBe(303)
    pathIn(await mailTo('kim@example.com'))
    expect(mails.named.filter((address) => /im@example/i.test(address))).toEqual(['kim@example.com'])
  })

  test('one of two links ends the other', async () => {
    await user('two')
    await asked('/password/forgot', 'two@example.com')
    await asked('/password/forgot', 'two@example.com')
    const second = pathIn(await mailTo('two@example.com', 2))
    const [first = ''] = mailsTo('two@example.com').map(pathIn)
    expect(first).not.toBe(second)
    const open = await Promise.all([first, second].map(opened))
    const both = await Promise.all(open.map((choosing) => choosing(fresh)))
    expect(both.map(({ status }) => status).sort()).toEqual([303, 404])
  })

  test('an address gets three mails an hour, whatever comes from wherever; a client asks twenty times', async () => {
    await user('flooded')
    const texts = new Set<string>()
    for (let times = 0; times < 6; times++) {
      const visitor = openVisitor(origin)
      turn += 1
      texts.add((await visitor.follow(await asked('/password/forgot', 'flooded@example.com', visitor))).text)
    }
    expect(texts.size).toBe(1)
    await settled()
    expect(mailsTo('flooded@example.com')).toHaveLength(3)
    for (let times = 0; times < 19; times++)
      expect((await asked('/password/forgot', `none-${times}@example.com`)).status).toBe(303)
    const before = (await jobs()).length
    const refused = await asked('/password/forgot', 'none@example.com')
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Too many attempts')])
    expect((await jobs()).length).toBe(before)
    quoin.advance(HOUR)
    expect((await asked('/password/forgot', 'flooded@example.com')).status).toBe(303)
    await mailTo('flooded@example.com', 4)
  })

  test('the secret of a link is in no job, no storage and no log', async () => {
    await user('quiet')
    await asked('/password/forgot', 'quiet@example.com')
    const path = pathIn(await mailTo('quiet@example.com'))
    await openVisitor(origin).get(path)
    const secret = path.slice(path.indexOf('ql_'))
    await settled()
    const session = quoin.quoin.database.session()
    for (const storage of ['_account_links', '_users', '_userlogs', '_auditlogs', '_systemlogs']) {
      const all = JSON.stringify(
        (await session.find(storage, search({ limit: 10_000, includeRemoved: true }))).documents.value,
      )
      expect(all, storage).not.toContain(secret)
    }
    expect(JSON.stringify(await session.find('_account_links', search({ limit: 10_000 })))).toContain(
      'link_hash',
    )
    for (const { _meta } of await jobs())
      expect(
        JSON.stringify(await quoin.manage('GET', `/queue/${String(objectOf(_meta).guid)}`)),
      ).not.toContain('ql_')
  })

  test('a form of another site is refused, and a made-up host is in no mail', async () => {
    await user('host')
    const visitor = openVisitor(origin)
    const page = await visitor.get('/password/forgot')
    const evil = await visitor.submit(
      page,
      'forgot',
      { email: 'host@example.com' },
      { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } },
    )
    expect(evil.status).toBe(403)
    const named = { ...from(), 'x-forwarded-host': 'evil.example', origin: 'http://evil.example' }
    await visitor.submit(page, 'forgot', { email: 'host@example.com' }, { headers: named })
    expect((await mailTo('host@example.com')).body).not.toContain('evil.example')
  })

  test('a mail server that is down gets the mail later, and not after the link has expired', async () => {
    await user('later')
    await user('late')
    mails.answer(451)
    await asked('/password/forgot', 'later@example.com')
    await failedOnce('later@example.com')
    mails.answer(250)
    quoin.advance(HOUR / 2)
    pathIn(await mailTo('later@example.com'))
    mails.answer(451)
    await asked('/password/forgot', 'late@example.com')
    await failedOnce('late@example.com')
    quoin.advance(3 * HOUR)
    mails.answer(250)
    await settled()
    expect(mailsTo('late@example.com')).toEqual([])
  })

  test('one’s own address changes only with the current password: a link would be sent there', async () => {
    const { _meta } = objectOf(await quoin.manage('GET', '/users/me'))
    const own = `/users/${String(objectOf(_meta).guid)}`
    const refused = await quoin.send('PUT', own, { as: 'admin', body: { email: 'eve@example.com' } })
    expect([refused.status, objectOf(refused.body).fields]).toEqual([400, ['current_password']])
    const wrong = await quoin.send('PUT', own, {
      as: 'admin',
      body: { email: 'eve@example.com', current_password: 'wrong wrong' },
    })
    expect(wrong.status).toBe(400)
    const right = await quoin.send('PUT', own, {
      as: 'admin',
      body: { email: 'admin@example.com', current_password: adminPassword },
    })
    expect([right.status, objectOf(right.body).email]).toEqual([200, 'admin@example.com'])
    expect(
      (await quoin.send('PUT', own, { as: 'admin', body: { email: 'admin@example.com', firstname: 'A' } }))
        .status,
    ).toBe(200)
  })
})

describe('invitations', () => {
  const invite = (body: JsonObject, as = 'admin') => quoin.send('POST', '/users/invite', { as, body })
  const guidOf = (body: unknown) => String(objectOf(objectOf(body as JsonObject)._meta).guid)

  test.each<[string, JsonObject, number, string]>([
    ['no address', {}, 400, 'email'],
    ['what is no address', { email: 'ann' }, 400, 'email'],
    ['a password', { email: 'p@example.com', password: 'a long password' }, 400, 'password'],
    [
      'a group that there is not',
      { email: 'p@example.com', groups: ['0190e0ff-0000-7000-8000-000000000000'] },
      400,
      'group',
    ],
    ['an address that is taken', { email: 'Known@example.com' }, 409, 'taken'],
  ])('%s is refused, and no user is stored', async (_what, body, status, words) => {
    const count = async () => objectOf(await quoin.manage('POST', '/users/search', { count: true })).count
    const [before, waiting] = [await count(), (await jobs()).length]
    const answer = await invite(body)
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)])
    expect([await count(), (await jobs()).length]).toEqual([before, waiting])
  })

  test('a scope that the caller lacks is not granted, by no path', async () => {
    await quoin.addUser('inviter', ['users_create', 'users_update'])
    const body = { email: 'high@example.com', custom_scopes: ['storages_view'] }
    expect((await invite(body, 'inviter')).status).toBe(403)
    const made = await invite(body)
    expect(
      (await quoin.send('POST', `/users/${guidOf(made.body)}/invitation`, { as: 'inviter' })).status,
    ).toBe(403)
    expect(
      (await quoin.send('DELETE', `/users/${guidOf(made.body)}/invitation`, { as: 'inviter' })).status,
    ).toBe(403)
    expect((await invite({ email: 'low@example.com' }, 'inviter')).status).toBe(200)
  })

  test('the invited user cannot sign in, sets a password, and then can', async () => {
    const made = await invite({
      email: 'New.Member@example.com',
      firstname: 'New',
      custom_scopes: ['read_news'],
    })
    expect(made.body).toMatchObject({ username: 'New.Member@example.com', invited_until: expect.any(Number) })
    expect(made.text).not.toMatch(/password|invitation"/)
    const mail = await mailTo('New.Member@example.com')
    expect(mail.body).toContain('A invites you to The Club')
    expect(mail.headers.subject).toBe('A invites you to The Club')
    expect(partOf(mail, 'text/html'), 'for programs that show no button').toContain('Or open this address:')
    const first = pathIn(mail)
    expect((await signIn('new.member@example.com', '')).status).not.toBe(200)
    // Only an invitation makes the first password.
    await asked('/password/forgot', 'new.member@example.com')
    await settled()
    expect(mailsTo('new.member@example.com')).toEqual([])
    const again = await quoin.send('POST', `/users/${guidOf(made.body)}/invitation`, { as: 'admin' })
    expect(again.status).toBe(200)
    const second = pathIn(await mailTo('New.Member@example.com', 2))
    expect((await openVisitor(origin).get(first)).status).toBe(404)
    const invited = openVisitor(origin)
    const chosen = await invited.submit(await invited.get(second), 'choose', { new: fresh, repeat: fresh })
    expect(chosen.status).toBe(303)
    // The sign-in behind it has the name, once, and the page that of the application.
    const page = await invited.follow(chosen)
    expect(page.form('signin').input('username')).toContain('value="New.Member@example.com"')
    expect(page.html).toMatch(/class="brand"[^>]*>.*The Club<\/span>/)
    invited.setCookie('quoin_notice', btoa('{"text":"x","username":5}'))
    expect((await invited.get('/login')).form('signin').input('username')).not.toContain('value=')
    expect((await signIn('new.member@example.com', fresh)).status).toBe(200)
    expect(objectOf(await quoin.manage('GET', `/users/${guidOf(made.body)}`))).not.toHaveProperty(
      'invited_until',
    )
    for (const method of ['POST', 'DELETE'] as const)
      expect(
        (await quoin.send(method, `/users/${guidOf(made.body)}/invitation`, { as: 'admin' })).status,
      ).toBe(409)
  })

  test('a withdrawn invitation and one of eight days ago open nothing, and a mail that waits is not sent', async () => {
    const kept = await invite({ email: 'withdrawn@example.com' })
    const path = pathIn(await mailTo('withdrawn@example.com'))
    const links = (await quoin.documents('_account_links')).filter(
      (one) => one.user_guid === guidOf(kept.body),
    )
    await quoin.manage('DELETE', `/users/${guidOf(kept.body)}/invitation`)
    expect((await openVisitor(origin).get(path)).status).toBe(404)
    // Its mail was under way meanwhile, and stores its link now.
    const { _meta, ...link } = objectOf(links[0])
    await transact(quoin.quoin.database, (session) => session.create('_account_links', setFields(link)))
    expect((await openVisitor(origin).get(path)).status).toBe(404)
    mails.answer(451)
    const waiting = await invite({ email: 'waiting@example.com' })
    await failedOnce('waiting@example.com')
    await quoin.manage('DELETE', `/users/${guidOf(waiting.body)}/invitation`)
    mails.answer(250)
    await invite({ email: 'slow@example.com' })
    const slow = pathIn(await mailTo('slow@example.com'))
    quoin.advance(7 * 24 * HOUR)
    await settled()
    expect(mailsTo('waiting@example.com')).toEqual([])
    expect((await openVisitor(origin).get(slow)).status).toBe(404)
  })
})

describe('sign-up', () => {
  test('the address is confirmed first; the user is in the groups of the setting', async () => {
    const sent = await asked('/login/new', 'Carl@example.com')
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/login'])
    const path = pathIn(await mailTo('Carl@example.com'))
    expect(
      objectsOf(await quoin.manage('POST', '/users/search', { filters: { email: 'Carl@example.com' } })),
    ).toEqual([])
    expect((await openVisitor(origin).get(path)).text).toContain('Account: Carl@example.com New')
    expect((await signIn('carl@example.com', fresh)).status).toBe(401)
    expect((await choose(path, 'carl@example.com')).status).toBe(422)
    expect((await choose(path, fresh)).status).toBe(303)
    const signed = await signIn('carl@example.com', fresh)
    expect(signed.status).toBe(200)
    const [group] = objectsOf(
      await quoin.manage('POST', '/_system/authentication-groups/search', { filters: { name: 'members' } }),
    )
    expect(
      objectsOf(await quoin.manage('POST', '/users/search', { filters: { username: 'Carl@example.com' } })),
    ).toMatchObject([
      { email: 'Carl@example.com', custom_scopes: [], groups: [objectOf(group?._meta ?? {}).guid] },
    ])
    expect(await userLog('signed_up')).toHaveLength(1)
    expect((await openVisitor(origin).get(path)).status).toBe(404)
  })

  test('an address with an account gets the same reply, and a mail that leads to sign-in', async () => {
    await user('there')
    const texts = []
    for (const name of ['there', 'not-there']) {
      const visitor = openVisitor(origin)
      texts.push((await visitor.follow(await asked('/login/new', `${name}@example.com`, visitor))).text)
    }
    expect(texts[0]).toBe(texts[1])
    const mail = await mailTo('there@example.com')
    expect(mail.body).toContain(`${SITE}/login`)
    expect(() => pathIn(mail)).toThrow('No link')
    pathIn(await mailTo('not-there@example.com'))
  })

  test('of two links for one address the second makes no second user; a long address is no name', async () => {
    const dora = `dora.${'a'.repeat(50)}@example.com`
    await asked('/login/new', dora)
    await asked('/login/new', dora)
    await mailTo(dora, 2)
    const paths = mailsTo(dora).map(pathIn)
    // Both are open before one is used: a link that is used ends the other, whose page then is 404.
    const both = await Promise.all(paths.map(opened))
    const pages = await Promise.all(both.map((choosing) => choosing(fresh)))
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 404])
    const users = objectsOf(await quoin.manage('POST', '/users/search', { filters: { email: dora } }))
    expect(users).toMatchObject([{ username: expect.stringMatching(/^user-[0-9a-f]{12}$/) }])
  })

  test('a group with administrator rights is never given', async () => {
    const [group] = objectsOf(
      await quoin.manage('POST', '/_system/authentication-groups/search', { filters: { name: 'members' } }),
    )
    const guid = String(objectOf(group?._meta ?? {}).guid)
    await asked('/login/new', 'eve@example.org')
    const path = pathIn(await mailTo('eve@example.org'))
    for (const scopes of [['*'], ['blueprints_account_pages']]) {
      await quoin.manage('PUT', `/_system/authentication-groups/${guid}`, { scopes })
      expect((await choose(path, fresh)).status).toBe(409)
    }
    await quoin.manage('PUT', `/_system/authentication-groups/${guid}`, { scopes: ['read_news'] })
    expect((await choose(path, fresh)).status).toBe(303)
  })
})

test('without a mail server nothing is shown and nothing is sent', async () => {
  const plain = await openTestQuoin()
  try {
    const visitor = openVisitor(await plain.quoin.server.listen())
    expect((await visitor.get('/login')).html).not.toMatch(/password\/forgot|login\/new/)
    for (const path of ['/password/forgot', '/password/set?link=x', '/login/new'])
      expect((await visitor.get(path)).status).toBe(404)
    const refused = await plain.send('POST', '/users/invite', {
      as: 'admin',
      body: { email: 'a@example.com' },
    })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('QUOIN_PUBLIC_URL')])
    expect(inject('engine')).toMatch(/sqlite|postgres/)
  } finally {
    await plain.close()
  }
})
