/** The envelope of every record of every resource. Written by the storage, never by a client. */
export interface Meta {
  /** UUIDv7 text: sortable by creation, never changes. */
  readonly guid: string
  /** Cluster number. */
  readonly entity: number
  /** Unix seconds. */
  readonly created: number
  /** Unix seconds. */
  readonly updated: number
  /** Created, in milliseconds. */
  readonly cms: number
  /** Updated, in milliseconds. */
  readonly ums: number
  /** Unix seconds of the soft delete; 0 = present. */
  readonly removed: number
  /** Unix seconds at which the record is purged; -1 = never. */
  readonly expiry: number
  /** Changes with each modification; the optimistic lock wherever a path takes `{updatehash}`. */
  readonly update_hash: string
}
