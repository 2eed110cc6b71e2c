import Type, { type Static } from 'typebox'
import { anyJson } from './api/record-schemas.ts'
import type { JsonObject } from './json.ts'
import { BLOCK_NAME } from './names/block-name.ts'
import { pinTypes } from './pin-type.ts'

const AnyObject = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, maxProperties: 1000 })

/** Where a wire starts. It is stored on the block that receives it, for flow and value pins alike. */
const WireEnd = Type.Object(
  { block: Type.String({ maxLength: 64 }), pin: Type.String({ maxLength: 256 }) },
  { additionalProperties: false },
)

/** An in-pin as saved: wired, or holding a literal or an expression, or none of these. */
export const SavedInPin = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 256 }),
    from: Type.Optional(Type.Array(WireEnd, { maxItems: 200 })),
    value: Type.Optional(anyJson()),
    expression: Type.Optional(
      Type.String({ minLength: 1, maxLength: 10_000, description: 'An expression, without the `=`.' }),
    ),
    refs: Type.Optional(
      Type.Record(Type.String({ maxLength: 63 }), Type.String({ maxLength: 64 }), {
        maxProperties: 2000,
        description:
          'The blocks that the expression names: name → guid. The guid counts; the server adds what is missing and keeps the names up to date.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type SavedInPin = Static<typeof SavedInPin>

/** An out-pin that the builder added where the block allows it. */
export const CustomOutPin = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    type: Type.Enum([...pinTypes]),
  },
  { additionalProperties: false },
)
export type CustomOutPin = Static<typeof CustomOutPin>

/** What a builder decides about a block: everything that is staged, saved and deployed together. */
export const blockContent = {
  type: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.Optional(
    Type.String({
      pattern: BLOCK_NAME,
      description:
        'What expressions and files call the block; unique in its blueprint. Made from its title if not given.',
    }),
  ),
  title: Type.String({ maxLength: 200 }),
  description: Type.String({ maxLength: 10_000 }),
  position: Type.Object({ x: Type.Number(), y: Type.Number() }, { additionalProperties: false }),
  in_pins: Type.Array(SavedInPin, { maxItems: 500 }),
  custom_out_pins: Type.Array(CustomOutPin, { maxItems: 200 }),
  /** The block's settings. */
  fields: AnyObject,
  /** Who may start the flow; only triggers use them. */
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }),
}
export const BlockContent = Type.Object(blockContent)
export type BlockContent = Static<typeof BlockContent>

/** A block as the compiler takes it: its content under its guid (or, in a file, under its name). */
export interface Block extends BlockContent {
  readonly guid: string
}
