import { randomFillSync } from 'node:crypto'
import { openTemporaryDatabase } from '../../../test/temporary-database.ts'
import { testClock } from '../../../test/temporary-storage.ts'
import { describeStorage } from '../conformance.ts'
import { openPostgresStorage } from './postgres-storage.ts'

describeStorage('postgres', async () => {
  const database = await openTemporaryDatabase()
  const clock = testClock()
  const open = () =>
    openPostgresStorage({
      url: database.url,
      connections: 10,
      clock,
      random: randomFillSync,
      entity: 1,
      node: { name: 'one', version: '1.0.0' },
      monotonic: () => performance.now(),
      load: () => 0,
    })
  const storage = await open()
  let last = storage
  return {
    storage,
    clock,
    async reopen() {
      await last.close()
      last = await open()
      return last
    },
    async destroy() {
      await last.close()
      await database.drop()
    },
  }
})
