import { Type } from 'typebox'
import type { Wire } from '../wire.ts'

export const blockUsesSchema = Type.Array(
  Type.Object({
    type: Type.String({ description: 'Identifier of the block type.' }),
    count: Type.Integer({ description: 'Blocks of this type in all blueprints.' }),
  }),
)
export type BlockUses = Wire<typeof blockUsesSchema>
