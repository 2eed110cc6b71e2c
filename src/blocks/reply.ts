import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { PageAnswer } from '../shared/pages/page-content.ts'
import type { StoredJson } from '../storage/stored-json.ts'

/** Only the block that replies HTML can set it: a flow's own headers keep to JSON. */
export const HTML_TYPE = 'text/html; charset=utf-8'

/** A body that is no JSON: its content type is among the headers of the reply. */
export class PlainText {
  readonly text: string
  /** As of {@link StoredJson}. */
  tag: string | undefined = undefined

  constructor(text: string) {
    this.text = text
  }
}

/** A body that is the file of an asset, by its record. Type, length and tag are those of the file. */
export class FileBody {
  readonly asset: JsonObject

  constructor(asset: JsonObject) {
    this.asset = asset
  }
}

/** A body that never ends by itself: what is published to a channel, as events. */
export class ChannelReply {
  readonly channel: string
  /** JSON that is sent at once; undefined: nothing is. */
  readonly first: string | undefined
  /** Milliseconds after which it ends. */
  readonly lasts: number

  constructor(channel: string, first: string | undefined, lasts: number) {
    this.channel = channel
    this.first = first
    this.lasts = lasts
  }
}

/** What goes back. `value` undefined sends no body. */
export interface Reply {
  readonly code: number
  readonly value: JsonValue | StoredJson | PlainText | FileBody | ChannelReply | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What a page's flow answers instead of `value`. */
  readonly page?: PageAnswer
}
