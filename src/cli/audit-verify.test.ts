/** quoin audit verify: on the data directory while no server runs, and over HTTP while one does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places } from '../../test/command-fixture.ts'
import { guidOf } from '../../test/end-to-end/harness.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll } from '../shared/query.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where)
    await fixture.run(['user', 'create', 'auditor'])
  })
  afterAll(() => fixture.close())

  test('audit verify checks the whole audit log', async () => {
    const { code, printed, complained } = await fixture.run(['audit', 'verify'])
    expect({ code, printed, complained }).toEqual({
      complained: '',
      code: 0,
      printed: expect.stringMatching(
        /^[1-9]\d* records checked, 0 days signed, 0 days without a signature\.$/,
      ),
    })
    await fixture.inside(async ({ database }) => {
      const [entry] = await findAll(database.session(), systemStorages.auditChain, matchAll, 1)
      const guid = typeof entry?.record === 'string' ? guidOf(entry) : ''
      const wrong = setFields({ hash: 'other' })
      await transact(database, async (session) => session.update(systemStorages.auditChain, guid, wrong))
    })
    const found = await fixture.run(['audit', 'verify'])
    expect(found.code).toBe(1)
    expect(found.printed).toContain('changed\t')
    expect(found.complained).toMatch(/^The audit log is not as it was written: \d+ faults\.$/)
  })
})
