import { afterAll, beforeAll, describe, test } from 'vitest'
import { type ContractFixture, openContractFixture } from './contract-fixture.ts'
import { contractRows, type Part, partOf } from './contract-rows.ts'
import { findScenarios } from './find-scenarios.ts'

/** One test for each row of the part, all on one Quoin. */
export async function proveRows(part: Part): Promise<void> {
  const rows = (await contractRows()).filter((row) => partOf(row) === part)
  const scenarios = new Map((await findScenarios()).map((found) => [found.id, found]))
  let fixture: ContractFixture
  describe('contract', () => {
    beforeAll(async () => {
      fixture = await openContractFixture()
    })
    afterAll(() => fixture.close())

    for (const { table, id } of rows) {
      const title = `contract: ${table}: ${id}`
      test(title, async () => {
        const found = scenarios.get(id)
        if (found === undefined) throw new Error(`No scenario proves "${id}".`)
        await found.scenario(fixture)
      })
    }
  })
}
