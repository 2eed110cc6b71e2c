import { openNode, reopenable } from '../../../../test/postgres/open-node.ts'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { testClock } from '../../../../test/temporary-storage.ts'
import { describeStorage } from '../../conformance.ts'

describeStorage('postgres', async () => {
  const database = await openTemporaryDatabase()
  const clock = testClock()
  const { storage, reopen, close } = await reopenable(() =>
    openNode(database.url, { connections: 10, clock }),
  )
  return {
    storage,
    clock,
    reopen,
    async destroy() {
      await close()
      await database.drop()
    },
  }
})
