import { type Access, openAccess } from '../src/access/access.ts'
import type { AccessSettings } from '../src/access/access-context.ts'
import type { Identity } from '../src/access/identity-cache.ts'
import { signingSecret } from '../src/records/secrets/signing-secret.ts'
import type { QuoinError } from '../src/shared/errors.ts'
import type { Random } from '../src/shared/guid.ts'
import type { JsonObject } from '../src/shared/json.ts'
import { search } from '../src/shared/query.ts'
import type { Database } from '../src/storage/database.ts'
import { documentOf } from '../src/storage/database.ts'
import { guidOf } from '../src/storage/document-fields.ts'
import { documentsOf } from '../src/storage/find-documents.ts'
import { transact } from '../src/storage/transact.ts'
import { seededRandom } from './seeded-random.ts'
import type { TestClock } from './test-database.ts'
import { openTestDatabase } from './test-database.ts'

export const PASSWORD = 'correct horse battery'
export const IP = '192.0.2.1'

export const testSettings: AccessSettings = {
  lockoutAttempts: 10,
  lockoutSeconds: 900,
  addressAttempts: 100,
  tokenSeconds: 14 * 86_400,
  // Some 0.1 ms instead of 29: these tests hash hundreds of times.
  passwordCost: { memory: 64, passes: 1, parallelism: 1 },
}

export interface TestAccess {
  readonly access: Access
  readonly database: Database
  readonly clock: TestClock
  /** Moves the clock. */
  pass(seconds: number): void
  /** Who holds the administrator's token. */
  readonly admin: Identity
  /** A user with the usual password; its guid. */
  user(fields?: JsonObject): Promise<string>
  group(fields: JsonObject): Promise<string>
  /** Signs in with the usual password and gives the token. */
  token(username: string): Promise<string>
  identity(username: string): Promise<Identity>
  /** Everything a storage of the room holds, secrets too. */
  records(name: string): Promise<readonly JsonObject[]>
  /** Changes a record behind the room's back. */
  set(name: string, guid: string, fields: JsonObject): Promise<void>
  /** The room once more on the same database, as another node has it. */
  otherNode(settings?: Partial<AccessSettings>, random?: Random): Promise<Access>
  close(): Promise<void>
}

/** The room on a real database, with an administrator. */
export async function openTestAccess(settings: Partial<AccessSettings> = {}): Promise<TestAccess> {
  const temporary = await openTestDatabase()
  const { database, clock } = temporary
  let seed = 0
  const open = (changed: Partial<AccessSettings> = {}, random: Random = seededRandom(++seed)) =>
    openAccess({
      database,
      clock,
      random,
      secret: signingSecret(Buffer.alloc(32, 1)),
      settings: { ...testSettings, ...settings, ...changed },
    })
  const access = await open()
  const others: Access[] = []
  await access.ensureAdministrator(PASSWORD)

  async function token(username: string) {
    return (await access.signIn({ username, password: PASSWORD, ip: IP })).access_token
  }
  async function identity(username: string) {
    const identified = await access.identify(await token(username))
    if (!identified) throw new Error(`${username} has no identity.`)
    return identified
  }

  const admin = await identity('admin')
  return {
    access,
    database,
    clock,
    pass(seconds) {
      clock.now += seconds * 1000
    },
    admin,
    async user(fields = {}) {
      return guidOf(await access.createUser({ username: 'ada', password: PASSWORD, ...fields }, admin))
    },
    async group(fields) {
      return transact(database, async (session) => {
        const group = { is_active: true, ...fields }
        const mutations = Object.entries(group).map(
          ([field, value]) => ({ op: 'set', field, value }) as const,
        )
        return guidOf(documentOf(await session.create('_groups', mutations)))
      })
    },
    token,
    identity,
    async records(name) {
      return documentsOf(await database.session().find(name, search({ limit: 10_000, includeRemoved: true })))
    },
    async set(name, guid, fields) {
      const mutations = Object.entries(fields).map(([field, value]) => ({ op: 'set', field, value }) as const)
      await transact(database, (session) => session.update(name, guid, mutations))
    },
    async otherNode(changed, random) {
      const other = await open(changed, random)
      others.push(other)
      return other
    },
    async close() {
      for (const other of others) await other.close()
      await access.close()
      await temporary.close()
    },
  }
}

/** How work ended: its error's code, or OK. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'OK',
    (error: QuoinError) => error.code ?? String(error),
  )
}
