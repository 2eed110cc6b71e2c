/**
 * What blocks may ask of the world, the same for all runs of a node: a member here, and what makes it in `quoin/open-flows.ts`. Runs hand
 * it on as it is. Only what a second try of a run must get again is named between them: `unitServices` in `flows/run/run-units.ts`.
 */
import type { Readable } from 'node:stream'
import type { ImageRequest } from '../shared/files/image-request.ts'
import type { JsonObject } from '../shared/json.ts'

export interface BlockServices {
  readonly files: RunFiles
  readonly people: RunPeople
  readonly counts: RunCounts
}

/** A file as a block writes it. */
export interface NewFile {
  readonly name: string
  readonly directory: string
  /** Media type; what the bytes say goes first. */
  readonly type: string
  /** Records of former files that are deleted in the transaction that creates the record of this one. */
  readonly replaced?: readonly JsonObject[]
  /** Taken a piece at a time. */
  readonly content: AsyncIterable<Buffer>
}

/** What a link to a file allows. */
export interface FileLink {
  /** From now. */
  readonly seconds: number
  /** Browsers save the file, also where they could show it. */
  readonly saved: boolean
  /** To the bucket itself, if the bytes are in one. */
  readonly direct: boolean
}

/** The assets of the cluster, for blocks. What they change is stored at once, and a run that fails later does not undo it. */
export interface RunFiles {
  /** Gives the asset's record. INVALID_BODY for a name that cannot be, CONFLICT for a public path that is taken. */
  save(file: NewFile, by: { readonly guid: string; readonly username: string }): Promise<JsonObject>
  /** The bytes of an asset, or those from byte `start` to byte `end`, both included. */
  read(record: JsonObject, range?: { readonly start: number; readonly end: number }): Readable
  /** An address at which any client can read the file until then: a path of this server, or a whole address of the bucket. */
  link(record: JsonObject, link: FileLink): Promise<string>
  /** The image of an asset as it is wanted, not stored. INVALID_QUERY for what is no such image; UNAVAILABLE without sharp. */
  image(
    record: JsonObject,
    requested: ImageRequest,
  ): Promise<{ readonly bytes: Buffer; readonly type: string }>
  /** Permanently. NOT_FOUND. */
  remove(guid: string, by: { readonly guid: string; readonly username: string }): Promise<void>
}

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

/** One call that a block counts. */
export interface CountedCall {
  /** What is counted together. Any length: only its hash is stored. */
  readonly key: string
  /** Milliseconds, from the first call that is counted. */
  readonly window: number
  /** Allowed in a window. */
  readonly most: number
  /** How much this call counts: 0 only asks. */
  readonly amount: number
}

export interface Counted {
  readonly allowed: boolean
  /** What the window still allows after this call. */
  readonly remaining: number
  /** Seconds until the window ends; 0 when the call is allowed. */
  readonly retryAfter: number
}

/** Counts of the cluster, for blocks. They stand on their own: a run that fails later does not undo them. */
export interface RunCounts {
  count(call: CountedCall): Promise<Counted>
}
