/**
 * `node bench/sign-in.ts`: a sign-in with a passkey against one with a password, on SQLite and in turns, in processor time, which other
 * work on the machine does not change. Ends with 1 when the passkey takes more than twice as long. Takes some seconds.
 */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, openAccess } from '../src/access/access.ts'
import type { Identity } from '../src/access/identity-cache.ts'
import { signingSecret } from '../src/records/secrets/signing-secret.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import { softwareAuthenticator } from '../test/software-authenticator.ts'
import { median } from './statistics.ts'

const ROUNDS = 9
const SIGN_INS = 10
const GOAL = 2
const ORIGIN = 'https://club.example.com'
const PASSWORD = 'correct horse battery'
const ip = '192.0.2.1'
const browser = 'the cookie of a browser'

/** Milliseconds of processor time for each piece of work. */
async function processorTime(works: readonly (() => Promise<unknown>)[]): Promise<number> {
  const before = process.cpuUsage()
  for (const work of works) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / works.length
}

async function identity(access: Access, username: string): Promise<Identity> {
  const { access_token } = await access.signIn({ username, password: PASSWORD, ip })
  const found = await access.identify(access_token)
  if (!found) throw new Error(`${username} is not signed in.`)
  return found
}

async function compare(access: Access): Promise<void> {
  await access.ensureAdministrator(PASSWORD)
  const admin = await identity(access, 'admin')
  for (const username of ['ada', 'bob']) await access.createUser({ username, password: PASSWORD }, admin)
  const ada = await identity(access, 'ada')
  const authenticator = softwareAuthenticator({ origin: ORIGIN, host: new URL(ORIGIN).host, counts: true })
  const { passkey, sent } = authenticator.create(await access.passkeys.toAdd(ada))
  await access.passkeys.add(ada, { name: 'Laptop', passkey: sent })
  const rounds: { readonly password: number; readonly passkey: number }[] = []
  // The first round loads the library, and is left out.
  for (let round = 0; round <= ROUNDS; round++) {
    const answers = Array.from({ length: SIGN_INS }, () => passkey.get(access.passkeys.toSignIn(browser)))
    const byPassword = answers.map(() => () => access.signIn({ username: 'bob', password: PASSWORD, ip }))
    const byPasskey = answers.map((one) => () => access.passkeys.signIn({ passkey: one, browser, ip }))
    const password = await processorTime(byPassword)
    if (round > 0) rounds.push({ password, passkey: await processorTime(byPasskey) })
    else await processorTime(byPasskey)
  }
  const ratio = median(rounds.map((one) => one.passkey / one.password))
  const shown = (of: 'password' | 'passkey') => median(rounds.map((one) => one[of])).toFixed(1)
  process.stdout.write(
    `password ${shown('password')} ms, passkey ${shown('passkey')} ms: ${ratio.toFixed(2)} times\n`,
  )
  if (ratio > GOAL) process.exitCode = 1
}

const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
const directory = await mkdtemp(join(tmpdir(), 'quoin-sign-in-'))
const database = await openSqliteDatabase({
  ...{ directory, clock: Date.now, random, entity: 1 },
  synchronous: 'OFF',
})
try {
  const access = await openAccess({
    ...{ database, clock: Date.now, random, secret: signingSecret(Buffer.alloc(32, 1)) },
    settings: {
      ...{ lockoutAttempts: 10, lockoutSeconds: 900, addressAttempts: 100, tokenSeconds: 86_400 },
      publicUrl: ORIGIN,
    },
  })
  await compare(access)
  await access.close()
} finally {
  await database.close()
  await rm(directory, { recursive: true })
}
