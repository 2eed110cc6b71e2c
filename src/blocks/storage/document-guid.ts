import type { JsonObject } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { PinError } from '../block.ts'

/**
 * Which document a block is about: the pin `guid`, or else the guid of the document on the pin `document`. Throws
 * PinError when neither names one.
 */
export function documentGuid(inputs: {
  readonly guid: string | undefined
  readonly document: JsonObject | undefined
}): string {
  if (inputs.guid) return inputs.guid
  if (!inputs.document) throw new PinError('guid', 'is empty')
  const meta = inputs.document._meta
  const guid = isJsonObject(meta) ? meta.guid : undefined
  if (typeof guid !== 'string' || guid === '')
    throw new PinError('document', 'has no _meta.guid, so it is not a stored document')
  return guid
}
