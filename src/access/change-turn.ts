/**
 * Changes to users happen one after the other, on all nodes: each first writes one well-known document, which holds the
 * engine's lock on it until the end. What a change then reads (is the name free, is an administrator left) stays true
 * until it commits. Without it two administrators could remove each other at the same time. Users change rarely, so
 * waiting costs nothing; sign-ins do not take the turn.
 */

import { QuoinError } from '../shared/errors.ts'
import type { Database, Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { ownStorages } from '../storage/own-storages.ts'
import { transact } from '../storage/transact.ts'

const NAME = 'users'

/** Makes the document if this is the first start. Gives its guid. */
export async function openTurn(database: Database): Promise<string> {
  await database.ensure(ownStorages.accessTurns, { indexes: [{ fields: ['name'], unique: true }] })
  for (let tries = 1; ; tries++) {
    const there = await findOne(database.session(), ownStorages.accessTurns, 'name', NAME)
    if (there) return guidOf(there)
    try {
      return await transact(database, async (session) => {
        const made = await session.create(ownStorages.accessTurns, [
          { op: 'set', field: 'name', value: NAME },
          { op: 'set', field: 'changes', value: 0 },
        ])
        return guidOf(documentOf(made))
      })
    } catch (error) {
      // Another node made it first; then it is found.
      if (!(error instanceof QuoinError) || error.code !== 'CONFLICT' || tries === 5) throw error
    }
  }
}

/** The first thing a transaction does that changes users. */
export async function takeTurn(session: Session, turnGuid: string): Promise<void> {
  const written = await session.update(ownStorages.accessTurns, turnGuid, [
    { op: 'increment', field: 'changes', amount: 1 },
  ])
  if (written.outcome !== 'written')
    throw new QuoinError('INTERNAL', 'The document that orders changes to users is missing. Restart Quoin.')
}
