/** What this cluster has signed and is used up by one request: stored until it expires, so that it works once on all nodes. */
import { hash } from 'node:crypto'
import { setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

/** False where it was used before. CONFLICT, as for each unique value, where another session uses it at the same time. */
export async function takeSingleUse(
  session: Session,
  kind: 'passkey' | 'proof',
  { text, expiry }: { readonly text: string; readonly expiry: number },
): Promise<boolean> {
  const key = hash('sha256', text, 'hex')
  if (await findOne(session, systemStorages.signInChallenges, 'challenge_hash', key)) return false
  // Without a user: those of users are deleted when they are too many.
  const fields = { kind, user_guid: '', challenge_hash: key, expiry }
  await session.create(systemStorages.signInChallenges, setFields(fields), { expiry })
  return true
}
