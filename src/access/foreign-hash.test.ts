/** Users of other systems sign in with the password that they had there. */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { foreignHash } from './foreign-hash.ts'

/** From the tests of crypt_blowfish, phc-winner-argon2 and passlib; Django's and the last one are from Node. */
const hashes: readonly (readonly [string, string, string])[] = [
  ['bcrypt', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt of PHP', 'U*U*', '$2y$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
  [
    'argon2i',
    'password',
    '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA',
  ],
  [
    'argon2id',
    'password',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
  [
    'scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
  [
    'PBKDF2',
    'password',
    '$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44',
  ],
  [
    'PBKDF2 of Django',
    'password',
    'pbkdf2_sha256$1000$saltsalt$E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY=',
  ],
  [
    'PBKDF2 with SHA-512',
    'password',
    '$pbkdf2-sha512$1000$c2FsdHNhbHQ$Q6v4xwJ8a9nWPp2BeEoAYYhHSo2xRmPWART17vTpSxt2q6iNp7BOozW557qqa95eNjUO4gKs0CyvJbYGGku1tA',
  ],
]

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
})
afterAll(() => quoin.close())

const signIn = (username: string, password: string) =>
  quoin.send('POST', '/auth/signin', { body: { username, password } })

test.each([
  ['nothing', ''],
  ['a password', 'correct horse battery staple'],
  ['bcrypt that takes hours', '$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt below its least cost', '$2a$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['a cut bcrypt', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe'],
  ['argon2 that takes all memory', '$argon2id$v=19$m=999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7c'],
  ['argon2 that takes minutes', '$argon2id$v=19$m=262144,t=99,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7c'],
  [
    'scrypt that takes all memory',
    '$scrypt$ln=30,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBs',
  ],
  ['scrypt without a block', '$scrypt$ln=16,r=0,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBs'],
  [
    'PBKDF2 that takes minutes',
    '$pbkdf2-sha256$9999999$0ZrzXitFSGltTQnBWOsdeA$Y11AchqV4b0sUisdZd0Xr97KWoymNE0L',
  ],
  ['MD5', '$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/'],
])('%s is no hash that a user can have', async (_name, hash) => {
  expect(foreignHash(hash)).toBeUndefined()
  const { status, body } = await quoin.send('POST', '/users', {
    as: 'admin',
    body: { username: 'wrong', password_hash: hash },
  })
  expect([status, body]).toMatchObject([400, { fields: ['password_hash'] }])
})

test('a password and a hash are not set together, and one of them is needed', async () => {
  const [, , hash] = hashes[0] ?? ['', '', '']
  for (const [more, fields] of [
    [{ password: 'correct horse battery', password_hash: hash }, ['password']],
    [{ password_hash: 5 }, ['password_hash']],
    [{}, ['password']],
  ] as const) {
    const { status, body } = await quoin.send('POST', '/users', {
      as: 'admin',
      body: { username: 'both', ...more },
    })
    expect([status, body]).toMatchObject([400, { fields }])
  }
})

test.each(hashes)('%s: the first sign-in stores the hash of Quoin', async (name, password, hash) => {
  const username = name.replaceAll(' ', '-')
  const made = await quoin.manage('POST', '/users', { username, password_hash: hash })
  expect(JSON.stringify(made)).not.toContain(hash)
  const storedHash = async () =>
    (await quoin.documents(systemStorages.users)).find((user) => user.username === username)?.password_hash
  expect((await signIn(username, `${password}x`)).status).toBe(401)
  expect(await storedHash()).toBe(hash)
  expect((await signIn(username, password)).status).toBe(200)
  expect(await storedHash()).not.toBe(hash)
  expect((await signIn(username, password)).status).toBe(200)
  expect((await signIn(username, `${password}x`)).status).toBe(401)
})

test('bcrypt that takes too long is ended, and is no wrong password', async () => {
  const check = foreignHash('$2a$14$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW')
  const exits: Promise<unknown>[] = []
  const answers: unknown[] = []
  const started = (worker: Worker) => {
    exits.push(once(worker, 'exit'))
    worker.on('message', (answer) => answers.push(answer))
  }
  process.on('worker', started)
  await expect(check?.('U*U', 1)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 3 })
  process.off('worker', started)
  await Promise.all(exits)
  expect([exits.length, answers]).toEqual([1, []])
})

test('several at once are each judged rightly', async () => {
  const [, password, hash] = hashes[0] ?? ['', '', '']
  for (const name of ['one', 'two', 'three'])
    await quoin.manage('POST', '/users', { username: name, password_hash: hash })
  const sent = ['one', 'two', 'three', 'one'].map((name, at) => signIn(name, at === 1 ? 'wrong' : password))
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 401, 200, 200])
})
