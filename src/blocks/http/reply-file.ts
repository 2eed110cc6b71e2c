import type { JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { PinError } from '../block.ts'
import { FileBody, type Reply } from '../reply.ts'

const LONGEST = 255

/** The file of an asset, by its guid or name, or by a value that holds its guid, as file fields of documents do. */
export function fileReply(
  given: JsonValue | StoredJson,
  name: string | undefined,
  session: Session,
): MaybePromise<Reply> {
  const value = given instanceof StoredJson ? given.value : given
  const asset = assetNamed('value', value)
  if (name !== undefined && (name === '' || name.length > LONGEST))
    throw new PinError('name', `must be 1 to ${LONGEST} characters`)
  return andThen(assetRecord('value', asset, session), (record) => {
    const named = name === undefined ? record : { ...record, name }
    return { code: 200, value: new FileBody(named), headers: {} }
  })
}
