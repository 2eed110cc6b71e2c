import type { Readable } from 'node:stream'
import type { ImageRequest } from '../shared/files/image-request.ts'
import type { JsonObject } from '../shared/json.ts'

/** A file as a block writes it. */
export interface NewFile {
  readonly name: string
  readonly directory: string
  /** Media type; what the bytes say goes first. */
  readonly type: string
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
