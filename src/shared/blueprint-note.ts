import { type Static, Type } from 'typebox'

/** A remark on the canvas, or a frame around blocks. It belongs to the drawing and means nothing to what runs. */
export const blueprintNoteSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 64 }),
    kind: Type.Enum(['note', 'group']),
    text: Type.String({ maxLength: 10_000 }),
    color: Type.String({ maxLength: 20, description: 'A name of the theme, such as `yellow`.' }),
    position: Type.Object({ x: Type.Number(), y: Type.Number() }, { additionalProperties: false }),
    size: Type.Object({ width: Type.Number(), height: Type.Number() }, { additionalProperties: false }),
  },
  { additionalProperties: false },
)

export type BlueprintNote = Static<typeof blueprintNoteSchema>

/** How many a blueprint may have. */
export const MAX_NOTES = 200
