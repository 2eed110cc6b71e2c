import { isGuid } from '../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import { search } from '../shared/query.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { MissingError, PinError } from './block.ts'

/** What a pin says of an asset: its guid or name, or an object with its guid, as file fields of documents are. */
export function assetNamed(pin: string, value: JsonValue | undefined): string {
  const asset = isJsonObject(value) ? value.guid : value
  if (typeof asset !== 'string' || asset.trim() === '')
    throw new PinError(pin, 'must be the guid or the name of an asset, or an object with its guid')
  return asset.trim()
}

/** The record of an asset by its guid or name; of several with one name, the newest. Throws MissingError. */
export function assetRecord(pin: string, asset: string, session: Session): MaybePromise<JsonObject> {
  return andThen(findAsset(asset, session), (record) => {
    if (!record) throw new MissingError(pin, 'names no asset')
    return record
  })
}

function findAsset(asset: string, session: Session): MaybePromise<JsonObject | undefined> {
  if (isGuid(asset))
    return andThen(session.get(systemStorages.assets, asset), (found) => found && documentOf(found))
  const requested = search({
    query: { kind: 'term', field: 'name', value: asset },
    sort: [{ field: '_meta.created', order: 'desc', missing: 'last' }],
    limit: 1,
  })
  return andThen(session.find(systemStorages.assets, requested), ({ documents }) => {
    const [record] = Array.isArray(documents.value) ? documents.value : []
    return isJsonObject(record) ? record : undefined
  })
}
