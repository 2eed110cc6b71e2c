/** The pin `expand` of blocks that read documents. */
import type { JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { expandDocuments, MOST_EXPANDED } from '../../storage/reference/expand-documents.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import type { InPin } from '../pin.ts'

export const expandIn = {
  type: 'array',
  help: 'References to follow, such as ["customer"]: the document that the field names is added as _expand.customer, or null if it is removed.',
} as const satisfies InPin

/** The documents, expanded as the pin says. Throws PinError. */
export function expanded(
  { session, references }: Pick<FlowContext, 'session' | 'references'>,
  storage: string,
  expand: readonly JsonValue[] | undefined,
  documents: StoredJson,
): MaybePromise<StoredJson> {
  if (expand === undefined || expand.length === 0) return documents
  return andThen(references(storage), (known) => {
    const wanted = [...new Set(expand)].map((name) => {
      const reference = known.find(({ field }) => field === name)
      if (reference) return reference
      throw new PinError('expand', `names no reference of the storage ${storage}: ${String(name)}`)
    })
    return expandDocuments(session, documents, wanted)
  })
}

/** A page may be as long as the pin `limit` says, if its documents are not expanded. */
export function checkExpanded(expand: readonly JsonValue[] | undefined, limit: number): void {
  if (expand !== undefined && expand.length > 0 && limit > MOST_EXPANDED)
    throw new PinError('expand', `needs a limit of at most ${MOST_EXPANDED.toLocaleString('en-US')}`)
}
