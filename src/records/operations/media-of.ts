import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'

interface Media {
  /** In lower case, without parameters. */
  readonly type: string
  readonly schema: JsonValue | undefined
  readonly encoding: JsonObject
}

export function mediaOf(part: JsonObject | undefined): readonly Media[] {
  const content = isJsonObject(part?.content) ? part.content : {}
  return Object.entries(content).flatMap(([name, media]) => {
    if (!isJsonObject(media)) return []
    const type = (name.split(';')[0] ?? '').trim().toLowerCase()
    return [{ type, schema: media.schema, encoding: isJsonObject(media.encoding) ? media.encoding : {} }]
  })
}
