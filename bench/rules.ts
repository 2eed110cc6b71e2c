/**
 * `node bench/rules.ts [documents]`: a list under the rule `see` against the same list with the condition written by hand, on SQLite and in
 * turns, another user each time. Ends with 1 when the list under the rule takes more than 1.4 times as long. Filling takes some seconds.
 */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFieldRules } from '../src/records/fields/field-rules.ts'
import { validatedDatabase } from '../src/records/fields/validated-database.ts'
import { openPermissions } from '../src/records/permissions/permissions.ts'
import { ruleIndexes } from '../src/records/permissions/storage-rules.ts'
import { setFields } from '../src/shared/mutation.ts'
import { type Search, search } from '../src/shared/query.ts'
import { createAll } from '../src/storage/create-all.ts'
import type { Session } from '../src/storage/database.ts'
import { findWithTotal } from '../src/storage/find-documents.ts'
import { referencesIn } from '../src/storage/reference/references.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import { systemStorages } from '../src/storage/system-storages.ts'
import { transact } from '../src/storage/transact.ts'
import { median } from './statistics.ts'

const ROUNDS = 16
const LISTS = 500
const USERS = 1_000
const BATCH = 5_000
const GOAL = 1.4

const documents = Number(process.argv[2] ?? 100_000)
const rules = { see: 'doc.owner == user.guid || contains(user.scopes, "deals_all")' }

const directory = await mkdtemp(join(tmpdir(), 'quoin-rules-'))
const raw = await openSqliteDatabase({
  ...{ directory, clock: Date.now, random: randomFillSync, entity: 1 },
  synchronous: 'OFF',
})
try {
  const fields = await openFieldRules(raw)
  const database = validatedDatabase(raw, fields, {
    clock: Date.now,
    random: (bytes) => void randomFillSync(bytes),
  })
  const permissions = openPermissions({ rules: fields, clock: Date.now, warn: console.warn })
  await database.ensure('deals', {
    indexes: ruleIndexes('deals', new Map([['deals', rules]]), referencesIn([])),
  })
  await transact(database, (session) =>
    session.create(systemStorages.storages, setFields({ name: 'deals', rules })),
  )
  for (let at = 0; at < documents; at += BATCH)
    await transact(database, (session) =>
      createAll(
        session,
        'deals',
        Array.from({ length: Math.min(BATCH, documents - at) }, (_, n) => ({
          mutations: setFields({
            owner: `user-${(at + n) % USERS}`,
            n: at + n,
            note: 'a deal of the usual length',
          }),
        })),
      ),
    )

  const byHand = (user: string) => ({
    session: database.session(),
    asked: search({ query: { kind: 'term', field: 'owner', value: user, scalar: true } }),
  })
  const byRule = (user: string) => ({
    session: permissions.session(database.session(), {
      bound: true,
      user: { guid: user, username: user, groups: [], scopes: [] },
    }),
    asked: search(),
  })
  type Way = (user: string) => { readonly session: Session; readonly asked: Search }
  const timeOf = async (way: Way, user: number, offset: number): Promise<number> => {
    const began = performance.now()
    const { session, asked } = way(`user-${user % USERS}`)
    const { total } = await findWithTotal(session, 'deals', { ...asked, offset })
    if (total !== documents / USERS) throw new Error(`It finds ${total} documents.`)
    return performance.now() - began
  }
  const ratios: number[] = []
  const times = { hand: [] as number[], rule: [] as number[] }
  // List by list in turns, of users half a round apart: what one has found is not in the cache for the other.
  for (let round = 0; round <= ROUNDS; round += 1) {
    let [hand, rule] = [0, 0]
    for (let n = 0; n < LISTS; n += 1) {
      // Each is the first one, and has each half of the users, as often as the other.
      const [own, other] = round % 4 < 2 ? [n, n + LISTS] : [n + LISTS, n]
      if (round % 2 === 0) hand += await timeOf(byHand, own, round)
      rule += await timeOf(byRule, other, round)
      if (round % 2 === 1) hand += await timeOf(byHand, own, round)
    }
    // The first round warms up.
    if (round === 0) continue
    times.hand.push(hand / LISTS)
    times.rule.push(rule / LISTS)
    ratios.push(rule / hand)
  }
  const ratio = median(ratios)
  const shown = (list: number[]) => `${(median(list) * 1000).toFixed(0)} µs`
  console.log(
    `20 of ${documents / USERS} own documents of ${documents}, with the total, medians of ${ROUNDS}:`,
  )
  console.log(`by hand ${shown(times.hand)}, by the rule ${shown(times.rule)}, ratio ${ratio.toFixed(2)}`)
  if (ratio > GOAL) process.exitCode = 1
} finally {
  await raw.close()
  await rm(directory, { recursive: true, force: true })
}
