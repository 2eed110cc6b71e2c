import { describeStorage } from '../../../../test/conformance/conformance.ts'
import { openNode, reopenable } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { testClock } from '../../../../test/test-database.ts'

describeStorage('postgres', async () => {
  const temporary = await openTemporaryDatabase(storageTemplate)
  const clock = testClock()
  const { database, reopen, close } = await reopenable(() =>
    openNode(temporary.url, { connections: 10, clock }),
  )
  return {
    database,
    clock,
    reopen,
    async destroy() {
      await close()
      await temporary.drop()
    },
  }
})
