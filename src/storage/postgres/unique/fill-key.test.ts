import { expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { transact } from '../../transact.ts'
import { documentTable } from '../core/postgres-catalogue.ts'
import { openPostgresPool, type PostgresPool } from '../core/postgres-connection.ts'
import { fillKey } from './make-unique.ts'
import { keyTableSql } from './postgres-unique-values.ts'

test('ends although documents are made faster than it walks', async () => {
  const temporary = await openTemporaryDatabase(storageTemplate)
  const database = await openNode(temporary.url)
  const pool = openPostgresPool({ url: temporary.url, connections: 4, pooled: false })
  try {
    await database.ensure('goods')
    const create = (sku: string) =>
      transact(database, (session) => session.create('goods', setFields({ sku })))
    await create('first')
    let made = 0
    /** Behind each page there is another document. */
    const busy: PostgresPool = {
      ...pool,
      transaction(how) {
        const transaction = pool.transaction(how)
        const commit = transaction.commit.bind(transaction)
        transaction.commit = async () => {
          await commit()
          if (++made > 20) throw new Error('It walks on and on.')
          await create(`next ${made}`)
        }
        return transaction
      },
    }
    const [storage] = await pool.rows('SELECT id FROM storage WHERE name = $1', ['goods'])
    const id = Number(storage?.id)
    const key = {
      id: 900,
      definition: { name: 'sku', fields: [{ name: 'sku', ignoreCase: false, ignoreAccents: false }] },
    }
    const transaction = pool.transaction()
    await transaction.script(keyTableSql(key))
    await transaction.commit()
    const entry = {
      id,
      name: 'goods',
      table: documentTable(id),
      indexes: new Map(),
      unique: [],
      needsText: false,
      noted: false,
      textReady: false,
      columns: new Map(),
      other: () => undefined,
    }
    await fillKey(busy, entry, { ...key, isReady: false })
    expect(await pool.rows('SELECT value FROM unique_900')).toHaveLength(1)
  } finally {
    await database.close()
    await pool.close()
    await temporary.drop()
  }
})
