/**
 * A process that opens a storage on PostgreSQL, prints the guid of its node, and stays until it is ended. Arguments: the
 * database's URL and the node's folder.
 */
import { randomFillSync } from 'node:crypto'
import { openPostgresDatabase } from '../../src/storage/postgres/core/postgres-database.ts'

const [url = '', directory = ''] = process.argv.slice(2)
const database = await openPostgresDatabase({
  url,
  directory,
  connections: 2,
  clock: Date.now,
  random: randomFillSync,
  entity: 1,
  node: { name: 'same', version: '1.2.3' },
  monotonic: () => performance.now(),
  wall: Date.now,
  load: () => 0,
})
console.log(database.capabilities.cluster?.self)
