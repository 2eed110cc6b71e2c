import { openTemporaryStorage } from '../../../../test/temporary-storage.ts'
import { describeStorage } from '../../conformance.ts'

describeStorage('sqlite', async () => {
  const { storage, clock, reopen, close } = await openTemporaryStorage()
  return { storage, clock, reopen, destroy: close }
})
