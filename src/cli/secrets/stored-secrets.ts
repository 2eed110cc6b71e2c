import { MAX_SECRETS } from '../../shared/names/stored-names.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import type { Management } from '../management.ts'
import { allNamed, type NamedKind } from '../named-records.ts'

export const secretKind: NamedKind = { path: '/_system/secrets', noun: 'secret', most: MAX_SECRETS }

export interface NamedSecret {
  readonly name: string
  readonly readable: boolean
  /** It has no list of hosts. */
  readonly anywhere: boolean
  /** Connections that send it. */
  readonly senders: number
  /** Names of active blueprints. */
  readonly users: readonly string[]
}

/** By name. */
export async function allSecrets(management: Management): Promise<NamedSecret[]> {
  return (await allNamed(management, secretKind)).map((record) => ({
    name: textIn(record.name),
    readable: record.readable === true,
    anywhere: record.hosts === null,
    senders: Array.isArray(record.sent_by) ? record.sent_by.length : 0,
    users: objectsIn(record.used_by).map(({ name }) => textIn(name)),
  }))
}

/** Gives the numbers of secrets that were encrypted again, and of those that no key opens. */
export async function rotateSecrets(
  management: Management,
): Promise<{ readonly rotated: number; readonly unreadable: number }> {
  const reply = await management.call('POST', `${secretKind.path}/rotate`)
  const { rotated, unreadable } = Object(reply)
  return { rotated: Number(rotated), unreadable: Number(unreadable) }
}
