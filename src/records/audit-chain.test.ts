/** Whether each way to change the audit log behind Quoin's back is found and named. */
import { createPublicKey, verify } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { slowSteps, turnsDuring } from '../../test/turns-during.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll } from '../shared/query.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AuditChain, openAuditChain } from './audit-chain.ts'
import { type ChainFault, type ChainStep, chained, dayOf, entryOf, hashOf } from './audit-chain-proof.ts'
import { type AuditedChange, type AuditLog, openAuditLog } from './audit-log.ts'
import { secretKeys } from './secrets/signing-secret.ts'

const { auditChain, auditCheckpoints, auditLogs } = systemStorages
const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const day = 86_400_000

let fixture: TestDatabase
let chain: AuditChain
let log: AuditLog
const open = async (current = keyOf(7), signedSince = 0) => {
  const { database, clock } = fixture
  chain = await openAuditChain({
    ...{ database, clock, keys: secretKeys(current, []), offline: true, signedSince },
  })
  log = await openAuditLog(database, {}, chain)
}
const close = async () => {
  log.close()
  await chain.close()
}
beforeEach(async () => {
  fixture = await openTestDatabase()
  await open()
})
afterEach(async () => {
  await close()
  await fixture.close()
})

const thing = (name: string): AuditedChange => ({
  ...{ category: 'things', action: 'created', guid: 'g', name },
  ...{ before: undefined, after: { size: 1.5, text: 'é' } },
})
const note = (name: string) => transact(fixture.database, async (session) => log.record(session, thing(name)))

/** All steps of a check. */
async function check() {
  const faults: ChainFault[] = []
  let [checked, signed, unsigned, steps] = [0, 0, 0, 0]
  let from: ChainStep | undefined
  do {
    const step = await chain.check(from)
    faults.push(...step.faults)
    checked += step.checked
    signed += step.signed
    unsigned += step.unsigned
    from = step.next
    steps += 1
  } while (from && steps < 100)
  return {
    checked,
    signed,
    unsigned,
    faults: faults.map(({ fault, record, place }) => ({ fault, record, place })),
  }
}

/** Behind the back of the audit log: its wall is down while `work` writes. */
async function tamper(work: (session: Session) => Promise<unknown>): Promise<void> {
  log.close()
  await transact(fixture.database, async (session) => void (await work(session)))
  log = await openAuditLog(fixture.database, {}, chain)
}

const entries = () =>
  findAll(fixture.database.session(), auditChain, matchAll, 1_000, [
    { field: 'place', order: 'asc', missing: 'last' },
  ])
/** Of the record at a place. */
const at = async (place: number) => {
  const found = (await entries()).find((entry) => entry.place === place) ?? {}
  return { entry: guidOf(found), record: textIn(found.record) }
}

test('a log as it was written has no fault, over days, batches and a start in between', async () => {
  for (let count = 0; count < 3; count++) await note(`first ${count}`)
  await chain.seal()
  fixture.clock.now += day
  await close()
  await open()
  await transact(fixture.database, async (session) => {
    for (let count = 0; count < 401; count++) await log.record(session, thing(`second ${count}`))
  })
  expect(await check()).toEqual({ checked: 404, signed: 1, unsigned: 0, faults: [] })
  expect((await entries()).map((entry) => entry.place)).toEqual(Array.from({ length: 405 }, (_, n) => n + 1))
})

test('a record and its entry are written together or not at all', async () => {
  const failing = transact(fixture.database, async (session) => {
    await log.record(session, thing('lost'))
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(await check()).toEqual({ checked: 0, signed: 0, unsigned: 0, faults: [] })
  expect(await entries()).toHaveLength(1)
})

test('a chain that cannot grow is reported at the third failure, once, and grows again by itself', async () => {
  const reports: string[] = []
  chain.onFailure((message) => reports.push(message))
  await note('waits')
  const end = fixture.database.observe(auditChain, () => {
    throw new Error('no place')
  })
  const counts: number[] = []
  for (let tries = 0; tries < 4; tries++) {
    await expect(chain.seal()).rejects.toThrow('no place')
    counts.push(reports.length)
  }
  end()
  expect(counts).toEqual([0, 0, 1, 1])
  expect(reports[0]).toContain('3 times in a row: Error: no place')
  expect(await check()).toMatchObject({ checked: 1, faults: [] })
})

const tampered: readonly {
  readonly name: string
  readonly work: () => Promise<void>
  readonly faults: () => Promise<readonly object[]>
}[] = [
  {
    name: 'a record that was changed',
    work: async () => {
      const { record } = await at(3)
      await tamper(async (session) => session.update(auditLogs, record, setFields({ name: 'other' })))
    },
    faults: async () => [{ fault: 'changed', record: (await at(3)).record, place: 3 }],
  },
  {
    name: 'a record that was removed',
    work: async () => {
      const { record } = await at(3)
      await tamper(async (session) => session.delete(auditLogs, record))
    },
    faults: async () => [{ fault: 'removed', record: (await at(3)).record, place: 3 }],
  },
  {
    name: 'a record that was hidden by a soft delete',
    work: async () => {
      const { record } = await at(3)
      await tamper(async (session) => session.setRemoved(auditLogs, record, true))
    },
    faults: async () => [{ fault: 'changed', record: (await at(3)).record, place: 3 }],
  },
  {
    name: 'a record with its entry that were removed',
    work: async () => {
      const { record, entry } = await at(3)
      await tamper(async (session) => {
        await session.delete(auditLogs, record)
        await session.delete(auditChain, entry)
      })
    },
    faults: async () => [{ fault: 'broken', record: (await at(4)).record, place: 4 }],
  },
  {
    name: 'two records that changed places',
    work: async () => {
      const [third, fourth] = [await at(3), await at(4)]
      await tamper(async (session) => {
        await session.update(auditChain, third.entry, setFields({ record: fourth.record }))
        await session.update(auditChain, fourth.entry, setFields({ record: third.record }))
      })
    },
    faults: async () => {
      const [third, fourth] = [await at(3), await at(4)]
      return [
        { fault: 'broken', record: third.record, place: 3 },
        { fault: 'changed', record: third.record, place: 3 },
        { fault: 'broken', record: fourth.record, place: 4 },
        { fault: 'changed', record: fourth.record, place: 4 },
      ]
    },
  },
  {
    name: 'a record without an entry',
    work: () => {
      fixture.clock.now += 10
      return tamper(async (session) => session.create(auditLogs, setFields({ category: 'forged' })))
    },
    faults: async () => {
      const [forged] = await findAll(
        fixture.database.session(),
        auditLogs,
        { kind: 'term', field: 'category', value: 'forged' },
        1,
      )
      return [{ fault: 'added', record: guidOf(forged ?? {}), place: 0 }]
    },
  },
  {
    name: 'a signed day that was signed again with another key',
    work: () =>
      tamper(async (session) => {
        const [checkpoint] = await findAll(session, auditCheckpoints, matchAll, 1)
        const signature = Buffer.alloc(64, 1).toString('base64url')
        await session.update(auditCheckpoints, guidOf(checkpoint ?? {}), setFields({ signature }))
      }),
    faults: async () => [{ fault: 'forged', record: '', place: 4 }],
  },
  {
    name: 'a signed day whose signature was removed',
    work: () =>
      tamper(async (session) => {
        const [checkpoint] = await findAll(session, auditCheckpoints, matchAll, 1)
        await session.delete(auditCheckpoints, guidOf(checkpoint ?? {}))
      }),
    faults: async () => [{ fault: 'forged', record: '', place: 4 }],
  },
  {
    name: 'the newest record of a signed day with its entry, which were removed',
    work: async () => {
      const { record, entry } = await at(4)
      await tamper(async (session) => {
        await session.delete(auditLogs, record)
        await session.delete(auditChain, entry)
      })
    },
    faults: async () => [
      { fault: 'broken', record: (await at(5)).record, place: 5 },
      { fault: 'forged', record: '', place: 3 },
    ],
  },
  {
    name: 'a record that was changed in a chain that was made again without signatures',
    work: () => forge((entry) => numberIn(entry.at)),
    faults: async () => [{ fault: 'forged', record: '', place: 4 }],
  },
]

/** As who can write to the database could: another record, and hashes and checkpoints that fit it. `timeOf`: of the new entries. */
async function forge(timeOf: (entry: JsonObject) => number): Promise<void> {
  const { record } = await at(3)
  await tamper(async (session) => {
    await session.update(auditLogs, record, setFields({ name: 'other' }))
    const stored = await session.get(auditLogs, record, { removed: true })
    for (const { _meta } of await findAll(session, auditCheckpoints, matchAll, 100))
      await session.delete(auditCheckpoints, guidOf({ _meta: _meta ?? null }))
    let previous = { place: 0, at: 0, chain: '' }
    for (const entry of await entries()) {
      const changed =
        entry.record === record && stored ? { ...entry, hash: hashOf(documentOf(stored)) } : entry
      const made = entryOf({ ...changed, at: timeOf(entry) })
      if (previous.place > 0 && dayOf(previous.at) !== dayOf(made.at))
        await session.create(
          auditCheckpoints,
          setFields({ place: previous.place, chain: previous.chain, key: '', signature: '', public_key: '' }),
        )
      previous = { place: made.place, at: made.at, chain: chained(previous.chain, made) }
      await session.update(auditChain, guidOf(entry), setFields({ ...made, chain: previous.chain }))
    }
  })
}

test.each(tampered)('$name is found and named', async ({ work, faults }) => {
  for (const name of ['one', 'two', 'three']) await note(name)
  await chain.seal()
  fixture.clock.now += day
  await note('four')
  expect((await check()).faults).toEqual([])
  await work()
  expect((await check()).faults).toEqual(await faults())
})

test('records from before the chain are counted, and one more among them is found', async () => {
  await close()
  await transact(fixture.database, async (session) => {
    for (const { _meta } of await entries())
      await session.delete(auditChain, guidOf({ _meta: _meta ?? null }))
    await session.create(auditLogs, setFields({ category: 'old' }))
  })
  fixture.clock.now += 10
  await open()
  await note('new')
  expect(await check()).toEqual({ checked: 1, signed: 0, unsigned: 0, faults: [] })
  await tamper(async (session) => {
    const [old] = await findAll(session, auditLogs, { kind: 'term', field: 'category', value: 'old' }, 1)
    await session.delete(auditLogs, guidOf(old ?? {}))
  })
  expect((await check()).faults).toEqual([{ fault: 'broken', record: '', place: 1 }])
})

test('a day that ends without a key is not signed, and says so', async () => {
  await close()
  await open('')
  await note('one')
  await chain.seal()
  fixture.clock.now += day
  await note('two')
  expect(await check()).toEqual({ checked: 2, signed: 0, unsigned: 1, faults: [] })
})

test('days from before the key are no fault where a setting names its first day, and one behind a signed day always is', async () => {
  await close()
  const first = fixture.clock.now
  await open('')
  await note('one')
  await chain.seal()
  fixture.clock.now += day
  await note('two')
  await chain.seal()
  await close()
  await open()
  fixture.clock.now += day
  await note('three')
  expect(await check()).toMatchObject({ signed: 1, unsigned: 0, faults: [{ fault: 'forged', place: 2 }] })
  await close()
  await open(keyOf(7), first + day)
  expect(await check()).toMatchObject({ signed: 1, unsigned: 1, faults: [] })
  await close()
  await open('')
  fixture.clock.now += day
  await note('four')
  await chain.seal()
  await close()
  await open(keyOf(7), first + day)
  expect(await check()).toMatchObject({ signed: 1, unsigned: 1, faults: [{ fault: 'forged', place: 4 }] })
})

test('a log that was made again to begin today is found where a setting names the first signed day', async () => {
  const first = fixture.clock.now
  for (const name of ['one', 'two', 'three']) await note(name)
  await chain.seal()
  fixture.clock.now += day
  await note('four')
  await chain.seal()
  await forge(() => fixture.clock.now)
  // Nothing in the database shows it.
  expect(await check()).toMatchObject({ signed: 0, unsigned: 0, faults: [] })
  await close()
  await open(keyOf(7), first)
  expect((await check()).faults).toEqual([{ fault: 'forged', record: '', place: 1 }])
})

test('an export holds the chain for a check without Quoin', async () => {
  await note('one')
  await chain.seal()
  fixture.clock.now += day
  await note('two')
  await chain.seal()
  const lines: JsonObject[] = []
  for await (const line of chain.lines()) lines.push(JSON.parse(line))
  const nameOf = ({ audit = null }: JsonObject) => (isJsonObject(audit) ? audit.name : undefined)
  const shown = lines.map((line) => [line.place, nameOf(line)])
  expect(shown).toEqual([
    [1, undefined],
    [2, 'one'],
    [3, 'two'],
    [undefined, undefined],
  ])
  const checkpoint = lines.at(-1)?.checkpoint ?? null
  const { place, chain: end, signature, public_key } = isJsonObject(checkpoint) ? checkpoint : {}
  const der = Buffer.from(textIn(public_key), 'base64url')
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  const signed = Buffer.from(`quoin audit checkpoint ${numberIn(place)} ${textIn(end)}`)
  expect(verify(null, signed, key, Buffer.from(textIn(signature), 'base64url'))).toBe(true)
})

test('an export lets others have their turn, within a page of records too', async () => {
  for (let count = 0; count < 20; count++) await note(`${count}`)
  await chain.seal()
  slowSteps()
  try {
    const turns = await turnsDuring(async () => {
      for await (const _ of chain.lines());
    })
    expect(turns).toBeGreaterThan(20)
  } finally {
    vi.restoreAllMocks()
  }
})

test('a record that the look behind it did not reach has its place at the next one, soon', async () => {
  const { database, clock } = fixture
  await close()
  chain = await openAuditChain({ database, clock, keys: secretKeys(keyOf(7), []) })
  log = await openAuditLog(database, {}, chain)
  const looks = vi.spyOn(database.capabilities, 'withClusterLock').mockRejectedValueOnce(new Error('busy'))
  try {
    await note('late')
    const waiting = async () =>
      (await findAll(database.session(), auditChain, matchAll, 100)).filter((entry) => entry.waiting === true)
    await expect.poll(waiting, { timeout: 30_000 }).toEqual([])
    expect(looks).toHaveBeenCalledTimes(2)
  } finally {
    looks.mockRestore()
  }
})
