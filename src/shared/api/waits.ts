import { Type } from 'typebox'
import { anyJson } from './any-json.ts'

export const awaitedQuery = Type.Object({
  token: Type.Optional(Type.String({ description: 'As the address that the block gave has it.' })),
})

export const awaitedBody = anyJson('Any JSON. An empty body counts as an empty object.')

export const receivedSchema = Type.Object({ received: Type.Literal(true) })
