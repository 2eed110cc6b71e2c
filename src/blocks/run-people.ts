import type { JsonObject } from '../shared/json.ts'

/** A user as a block creates one: signs in, and holds no scope and no group. */
export interface NewUser {
  readonly username: string
  readonly password: string
  readonly email?: string
  readonly firstname?: string
  readonly lastname?: string
}

/** The users of the cluster, for blocks. What they change is stored at once, and a run that fails later does not undo it. */
export interface RunPeople {
  /** Gives the user without secrets. INVALID_BODY for what no user can be, CONFLICT for a name or address that is taken. */
  create(user: NewUser, by: { readonly guid: string; readonly username: string }): Promise<JsonObject>
}
