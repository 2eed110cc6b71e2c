import { expiryNeeds } from '../../records/purge-expired.ts'
import type { Actor, RecordContext } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Needs } from '../../storage/document-index.ts'
import { isOwnStorage, ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'

/** Makes the storages that a blueprint uses, what its searches need of them, and their records. */
export async function ensureStorages(
  context: RecordContext,
  needs: ReadonlyMap<string, Needs>,
  by: Actor,
): Promise<void> {
  for (const [name, need] of needs) {
    // The block refuses such names too; this is the wall behind the door.
    if (isOwnStorage(name))
      throw new QuoinError('INVALID_BODY', `The storage ${name} belongs to Quoin itself.`)
    await context.database.ensure(name, need)
    await context.database.ensure(name, expiryNeeds)
    await transact(
      context.database,
      async (session) => {
        const query = { kind: 'term', field: 'name', value: name } as const
        if ((await session.count(ownStorages.storages, query)) > 0) return
        const author = { ...by }
        await session.create(
          ownStorages.storages,
          setFields({ name, description: '', history: false, created_by: author, modified_by: author }),
        )
      },
      { user: by },
    )
  }
}
