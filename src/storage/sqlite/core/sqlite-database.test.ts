import { describeStorage } from '../../../../test/conformance/conformance.ts'
import { openTestDatabase } from '../../../../test/test-database.ts'

describeStorage('sqlite', async () => {
  const { database, clock, reopen, close } = await openTestDatabase()
  return { database, clock, reopen, destroy: close }
})
