/** Nodes of the version before, whose schema does not say when a document was created, beside one that needs it. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { postgresMigrations } from '../core/postgres-migrations.ts'

const steps = await postgresMigrations()
const before = steps.filter(({ number }) => number < 12)

let temporary: TemporaryDatabase
let admin: Client
const open: Database[] = []
beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterAll(async () => {
  await Promise.all(open.map((node) => node.close()))
  await admin?.end()
  await temporary?.drop()
})

const create = (node: Database, cms: number) =>
  transact(node, async (session) =>
    guidOf(documentOf(await session.create('notes', setFields({ n: 1 }), { cms }))),
  )

async function noted(guid: string): Promise<unknown[]> {
  const { rows } = await admin.query('SELECT * FROM noted_write WHERE guid = $1 ORDER BY xid', [guid])
  return rows.map(({ created }) => created)
}

test('from the step on, their writes are noted with it too', async () => {
  const old = await openNode(temporary.url, { node: 'old', migrations: before })
  open.push(old)
  await old.ensure('notes')
  const { readVersions } = old.capabilities
  await vi.waitFor(
    async () => {
      await readVersions.catchUp?.()
      expect(readVersions.of('notes')()).toBeDefined()
    },
    { timeout: 30_000, interval: 5 },
  )
  const guid = await create(old, 1_000)
  expect(await noted(guid)).toEqual([undefined])
  open.push(await openNode(temporary.url, { node: 'new' }))
  await transact(old, (session) => session.update('notes', guid, setFields({ n: 2 })))
  await transact(old, (session) => session.delete('notes', guid))
  expect(await noted(guid)).toEqual([null, '1000', '1000'])
  const seen = readVersions.of('notes')()
  await create(old, 2_000)
  expect(await readVersions.catchUp?.()).toBe(true)
  expect(readVersions.of('notes')()).not.toBe(seen)
})
