import type { JsonObject } from '../shared/json.ts'

/** Who causes a change: the user of the run, or empty texts. */
export interface Person {
  readonly guid: string
  readonly username: string
}

/** A user as a block creates one: signs in, and holds no scope and no group. */
export interface NewUser {
  readonly username: string
  readonly password: string
  readonly email?: string
  readonly firstname?: string
  readonly lastname?: string
}

/** A user without a password, who sets it by a link in a mail. */
export interface InvitedUser {
  readonly email: string
  /** The address if not given. */
  readonly username?: string
  readonly firstname?: string
  readonly lastname?: string
  readonly language?: string
}

/** The users of the cluster, for blocks. What they change is stored at once, and a run that fails later does not undo it. */
export interface RunPeople {
  /** Gives the user without secrets. INVALID_BODY for what no user can be, CONFLICT for a name or address that is taken. */
  create(user: NewUser, by: Person): Promise<JsonObject>
  /** As `create`, in the groups with these names. CONFLICT also where mail is not set up. */
  invite(user: InvitedUser, groups: readonly string[], by: Person): Promise<JsonObject>
  /**
   * Puts the user (guid) into those of the groups `among` that `groups` names, and takes the user out of the others of them.
   * NOT_FOUND, INSUFFICIENT_PERMISSIONS for a user who holds a scope that none of these groups has.
   */
  setGroups(
    user: string,
    among: readonly string[],
    groups: readonly string[],
    by: Person,
  ): Promise<JsonObject>
}
