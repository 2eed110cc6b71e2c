/** Blocks of operations that are different in the OpenAPI document of their connection now. They do what they did: nothing is refused. */
import { isOperation } from '../../blocks/pins/operation-problem.ts'
import { presentHashes } from '../../records/operations/stored-operations.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Database, Session } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { DeployNote } from '../compile/notes/deploy-note.ts'
import { bounded } from '../compile/notes/deploy-note.ts'

interface Held {
  readonly block: string
  readonly id: string
  readonly hash: string
}

export async function changedOperations(
  database: Pick<Database, 'has'>,
  session: Session,
  blocks: readonly Block[],
): Promise<readonly DeployNote[]> {
  if (!database.has(systemStorages.apiOperations)) return []
  const notes: DeployNote[] = []
  for (const [connection, held] of byConnection(blocks)) {
    const ids = [...new Set(held.map(({ id }) => id))]
    const now = await presentHashes(session, connection, ids)
    if (now === undefined) continue
    for (const { block, id, hash } of held) {
      const present = now.get(id)
      if (present === hash) continue
      const change =
        present === undefined ? `no longer has the operation ${id}` : `has the operation ${id} changed`
      const message = `The OpenAPI document of the connection ${connection} ${change}. The block does what it did; choose the operation again to take the change over.`
      notes.push({ block, pin: 'operation', message, level: 'warn' })
    }
  }
  return bounded(notes, 'blocks of changed operations')
}

function byConnection(blocks: readonly Block[]): ReadonlyMap<string, readonly Held[]> {
  const found = new Map<string, Held[]>()
  for (const { guid, type, in_pins: pins, fields } of blocks) {
    const connection = pins.find(({ id }) => id === 'connection')?.value
    const { operation } = fields
    if (type !== 'call_operation' || typeof connection !== 'string' || !isOperation(operation)) continue
    const held = found.get(connection) ?? []
    held.push({ block: guid, id: operation.id, hash: operation.hash })
    found.set(connection, held)
  }
  return found
}
