import type { WriteCondition } from '../../storage/database.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { InPin, OutPin, PerFrame } from '../pin.ts'

/** The pin of blocks that change a document only if it is as they need it. */
export const conditionPin = {
  type: 'condition',
  perFrame: true,
  help: 'Makes the change only if this is true of the stored document (doc) as it is at that moment, such as doc.stock >= body.qty.',
} as const satisfies InPin

export const conditionOut = {
  doc: { type: 'document', frame: true, help: 'The document before the change, for the condition at if.' },
  refused: { type: 'flow', help: 'Continues here if the condition at if is not met; nothing was changed.' },
} as const satisfies Readonly<Record<string, OutPin>>

/** The condition of a write in its transaction. Undefined when there is none. */
export function writeCondition(
  condition: PerFrame<boolean> | undefined,
  updateHash?: string,
): WriteCondition | undefined {
  const hash = updateHash ? { updateHash } : undefined
  if (condition === undefined) return hash
  return { ...hash, allows: (doc: StoredJson) => condition({ doc }) === true }
}
