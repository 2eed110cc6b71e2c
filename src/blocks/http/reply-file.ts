import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { MissingError, PinError } from '../block.ts'
import { FileBody, type Reply } from '../reply.ts'

const LONGEST = 255

/** The file of an asset, by its guid or name, or by a value that holds its guid, as file fields of documents do. */
export function fileReply(
  given: JsonValue | StoredJson,
  name: string | undefined,
  session: Session,
): MaybePromise<Reply> {
  const value = given instanceof StoredJson ? given.value : given
  const asset = isJsonObject(value) ? value.guid : value
  if (typeof asset !== 'string' || asset.trim() === '')
    throw new PinError('value', 'must be the guid or the name of an asset, or an object with its guid')
  if (name !== undefined && (name === '' || name.length > LONGEST))
    throw new PinError('name', `must be 1 to ${LONGEST} characters`)
  return andThen(findAsset(asset.trim(), session), (record) => {
    if (!record) throw new MissingError('value', 'names no asset')
    const named = name === undefined ? record : { ...record, name }
    return { code: 200, value: new FileBody(named), headers: {} }
  })
}

/** Of several with one name, the newest. */
function findAsset(asset: string, session: Session): MaybePromise<JsonObject | undefined> {
  if (isGuid(asset))
    return andThen(session.get(ownStorages.assets, asset), (found) => found && documentOf(found))
  const wanted = search({
    query: { kind: 'term', field: 'name', value: asset },
    sort: [{ field: '_meta.created', order: 'desc', missing: 'last' }],
    limit: 1,
  })
  return andThen(session.find(ownStorages.assets, wanted), ({ documents }) => {
    const [record] = Array.isArray(documents.value) ? documents.value : []
    return isJsonObject(record) ? record : undefined
  })
}
