/**
 * The groups that a cluster begins with (`shared/built-in-groups.ts`), made once: a group that is removed does not come back. A cluster from before
 * gets those whose names are free at its first start with this version.
 */
import { builtInGroups } from '../shared/built-in-groups.ts'
import { setFields } from '../shared/mutation.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, takeTurn } from './access-context.ts'
import { folded } from './visible-text.ts'

/** Of the document that says that they were made. */
const MADE = 'built-in groups'

/** Nodes that start together make each once. */
export async function ensureBuiltInGroups({ database, turnGuid }: AccessContext): Promise<void> {
  const { accessTurns, groups } = systemStorages
  if (await findOne(database.session(), accessTurns, 'name', MADE)) return
  await transact(database, async (session) => {
    await takeTurn(session, turnGuid)
    if (await findOne(session, accessTurns, 'name', MADE)) return
    for (const { name, description, scopes } of builtInGroups()) {
      const name_key = folded(name)
      if (await findOne(session, groups, 'name_key', name_key)) continue
      const fields = {
        name,
        name_key,
        description,
        scopes: [...scopes],
        is_active: true,
        second_factor_days: null,
      }
      await session.create(groups, setFields(fields))
    }
    await session.create(accessTurns, setFields({ name: MADE, changes: 1 }))
  })
}
