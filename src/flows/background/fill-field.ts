import { getField } from '../../records/fields/field-records.ts'
import { ruleOf } from '../../records/fields/field-rules.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'
import { transact } from '../../storage/transact.ts'
import { manyChangeJob } from '../run/job-payload.ts'

/**
 * Gives the stored documents of a field's storage what new ones get: the default where the field is nothing, the computed
 * value, or the next number, from the oldest document on. By a job, which goes through them in batches and continues after a crash. CONFLICT where there is nothing to give.
 */
export async function fillField(
  database: Database,
  guid: string,
  by: Actor,
): Promise<{ readonly job: string; readonly count: number }> {
  const { name, storage, type, defaultValue, computed } = ruleOf(await getField(database, guid)) ?? {}
  if (name === undefined || storage === undefined || !database.has(storage))
    throw new QuoinError('CONFLICT', 'The field has no storage whose documents could be filled.')
  // Null asks for the next number, where the document has none.
  const value = type === 'autonumber' ? null : defaultValue
  if (value === undefined && computed === undefined)
    throw new QuoinError(
      'CONFLICT',
      `${name} has neither a default_value nor computed, and is no autonumber: nothing can be filled in.`,
    )
  const change: ManyChange = {
    ...{ storage, kind: 'update', includeRemoved: false },
    // A change that changes nothing works out what is computed.
    ...(value === undefined
      ? { query: matchAll, mutations: [] }
      : {
          query: { kind: 'not', query: { kind: 'exists', field: name } },
          mutations: [{ op: 'set', field: name, value }],
        }),
  }
  return transact(
    database,
    async (session) => {
      const count = await session.count(storage, change.query)
      const job = await session.enqueue({
        ...manyChangeJob(change, { user: by }),
        requested: true,
        dedupeKey: `fill ${guid}`,
      })
      if (job === undefined) throw new QuoinError('CONFLICT', `A job fills ${name} already.`)
      return { job, count }
    },
    { user: by },
  )
}
