import { type Static, Type } from 'typebox'

const place = Type.Object({
  blueprint: Type.String({ description: 'Guid of the blueprint.' }),
  blueprint_name: Type.String(),
  block: Type.String({ description: 'Guid of the block.' }),
  type: Type.String(),
  name: Type.String({ description: 'Name of the block.' }),
  title: Type.String(),
})
export type FunctionPlace = Static<typeof place>

export const functionUsesSchema = Type.Object({
  functions: Type.Array(place, { description: 'Blocks that are the function.' }),
  calls: Type.Array(place, { description: 'Blocks that call it, at once or later.' }),
  whole: Type.Boolean({ description: 'False when there are more than are listed.' }),
})
export type FunctionUses = Static<typeof functionUsesSchema>

export const functionParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, description: 'Name of the custom function.' }),
})
