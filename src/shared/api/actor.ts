import { Type } from 'typebox'
import type { Wire } from './wire.ts'

/** The user who did something, as records and logs name them; `system` with an empty guid where no user did it. */
export const actorSchema = Type.Object({ guid: Type.String(), username: Type.String() })
export type Actor = Wire<typeof actorSchema>
