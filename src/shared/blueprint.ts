import type { JsonObject, JsonValue } from './json.ts'
import type { PinType } from './pin-type.ts'

/** Where a wire starts. It is stored on the block that receives it, for flow and value pins alike. */
export interface WireEnd {
  readonly block: string
  readonly pin: string
}

/** An in-pin as saved: wired, or holding a literal, or neither. */
export interface SavedInPin {
  readonly id: string
  readonly from?: readonly WireEnd[]
  readonly value?: JsonValue
}

/** An out-pin that the builder added where the block allows it. */
export interface CustomOutPin {
  readonly id: string
  readonly type: PinType
}

/** What a builder decides about a block: everything that is staged, saved and deployed together. */
export interface BlockContent {
  readonly type: string
  readonly title: string
  readonly description: string
  readonly position: { readonly x: number; readonly y: number }
  readonly in_pins: readonly SavedInPin[]
  readonly custom_out_pins: readonly CustomOutPin[]
  /** The block's settings. */
  readonly fields: JsonObject
  /** Who may start the flow; only triggers use them. */
  readonly scopes: readonly string[]
}

/** A block as the compiler takes it: its content under its guid (or, in a file, under its short id). */
export interface Block extends BlockContent {
  readonly guid: string
}
