/** What a block's record has for its content, and single writes of it. */
import { type Actor, notFound, type RecordContext } from '../../records/records.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'

export function contentFields(content: BlockContent): Record<string, JsonValue> {
  const { type, name, title, description, position, in_pins, custom_out_pins, fields, scopes } = content
  return {
    type,
    ...(name !== undefined && { name }),
    title,
    description,
    position,
    in_pins: in_pins.map(pinField),
    custom_out_pins,
    fields,
    scopes,
  }
}

function pinField(pin: BlockContent['in_pins'][number]): JsonObject {
  return {
    id: pin.id,
    ...(pin.from === undefined ? {} : { from: pin.from }),
    ...(pin.value === undefined ? {} : { value: pin.value }),
    ...(pin.expression === undefined ? {} : { expression: pin.expression }),
    ...(pin.refs === undefined ? {} : { refs: pin.refs }),
  }
}

export function stamp(context: RecordContext, by: Actor): JsonObject {
  return { by: { ...by }, at: Math.floor(context.clock() / 1000) }
}

export async function write(
  session: Session,
  guid: string,
  fields: Record<string, JsonValue>,
): Promise<JsonObject> {
  const written = await session.update(systemStorages.blocks, guid, setFields(fields))
  if (written.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(written.document)
}

export async function drop(session: Session, guid: string): Promise<JsonObject> {
  const deleted = await session.delete(systemStorages.blocks, guid)
  if (deleted.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(deleted.document)
}
