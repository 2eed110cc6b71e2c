import { type Static, Type } from 'typebox'

/** More blocks and remarks a frame or lane cannot collapse: as many as 20 blueprints of the size that we measure. */
const MOST_COLLAPSED = 10_000

/** A remark on the canvas, or a frame around blocks. It belongs to the drawing and means nothing to what runs. */
export const blueprintNoteSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 64 }),
    kind: Type.Enum(['note', 'group']),
    text: Type.String({ maxLength: 10_000 }),
    color: Type.String({ maxLength: 20, description: 'A name of the theme, such as `yellow`.' }),
    position: Type.Object({ x: Type.Number(), y: Type.Number() }, { additionalProperties: false }),
    size: Type.Object({ width: Type.Number(), height: Type.Number() }, { additionalProperties: false }),
    collapsed: Type.Optional(
      Type.Object(
        {
          inside: Type.Array(Type.String({ minLength: 1, maxLength: 70 }), {
            maxItems: MOST_COLLAPSED,
            description:
              'Guids of the blocks that are drawn as one box, and `note:` with the ids of remarks.',
          }),
          lane: Type.Boolean({
            description: 'The lane of a trigger, not a frame: expanded it is not drawn.',
          }),
        },
        { additionalProperties: false, description: 'While the frame is drawn as one box.' },
      ),
    ),
  },
  { additionalProperties: false },
)

export type BlueprintNote = Omit<Static<typeof blueprintNoteSchema>, 'collapsed'> & {
  collapsed?: { readonly inside: readonly string[]; readonly lane: boolean }
}

/** How many a blueprint may have. */
export const MAX_NOTES = 200
