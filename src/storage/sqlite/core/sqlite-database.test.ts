import { openTestDatabase } from '../../../../test/test-database.ts'
import { describeStorage } from '../../conformance/conformance.ts'

describeStorage('sqlite', async () => {
  const { database, clock, reopen, close } = await openTestDatabase()
  return { database, clock, reopen, destroy: close }
})
